import type { Queries } from '../database/database.ts'

export interface VersionKey {
  readonly workspace: string
  readonly kind: 'panel' | 'pipeline'
  readonly name: string
}

export interface SavedVersion {
  readonly version: number
  readonly sha256: string
  readonly author: string
  readonly at: Date
}

/** The number of the new version. A text that is the newest version already makes none. */
export async function insertVersion(
  { query }: Queries,
  { workspace, kind, name }: VersionKey,
  saved: { text: string; sha256: string; author: string },
): Promise<void> {
  await query(
    `WITH newest AS (SELECT version, sha256 FROM saved_versions WHERE workspace = $1 AND kind = $2 AND name = $3
       ORDER BY version DESC LIMIT 1)
     INSERT INTO saved_versions (workspace, kind, name, version, text, sha256, author)
     SELECT $1, $2, $3, coalesce((SELECT version FROM newest), 0) + 1, $4, $5, $6
     WHERE NOT EXISTS (SELECT 1 FROM newest WHERE sha256 = $5)
     ON CONFLICT DO NOTHING`,
    [workspace, kind, name, saved.text, saved.sha256, saved.author],
  )
}

/** The newest first. */
export async function listVersions(
  { query }: Queries,
  { workspace, kind, name }: VersionKey,
  limit = 100,
): Promise<SavedVersion[]> {
  return query<SavedVersion>(
    `SELECT version, sha256, author, at FROM saved_versions WHERE workspace = $1 AND kind = $2 AND name = $3
     ORDER BY version DESC LIMIT $4`,
    [workspace, kind, name, limit],
  )
}

export async function findVersion(
  { query }: Queries,
  { workspace, kind, name }: VersionKey,
  version: number,
): Promise<(SavedVersion & { readonly text: string }) | undefined> {
  const [row] = await query<SavedVersion & { text: string }>(
    `SELECT version, sha256, author, at, text FROM saved_versions
     WHERE workspace = $1 AND kind = $2 AND name = $3 AND version = $4`,
    [workspace, kind, name, version],
  )
  return row
}
