import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import type { Environment } from '../config/environment.ts'
import { inspectConfig, type LoadedConfig } from '../config/load.ts'
import { isTrusted } from '../config/trust.ts'
import { noApprover } from '../core/approval.ts'
import { createRuntime, type Runtime } from '../runtime.ts'

export type EditableLayer = 'user' | 'project' | 'local'

/** The file of a layer that a person edits. Their own may be a link of theirs, as people do who keep such files together. */
export function configPath(loaded: LoadedConfig, environment: Environment, layer: EditableLayer): string {
  const own = join(environment.directories.config, 'config.toml')
  if (layer === 'user') return existsSync(own) ? realpathSync(own) : own
  return join(loaded.workspace.root, '.kogu', layer === 'project' ? 'config.toml' : 'local.toml')
}

export interface DraftText {
  readonly text?: string
  /** Whose file it stands for. Defaults to the person's own. */
  readonly layer?: EditableLayer
  /** No rules but those of this text count. */
  readonly only?: boolean
  /** Ids of rules that do not count. */
  readonly remove?: readonly string[]
}

/** What Kogu would be with another text in the place of one of its files; the caller closes it. */
export async function openWithText(
  { loaded, environment }: { loaded: LoadedConfig; environment: Environment },
  { text, layer = 'user', only, remove }: DraftText,
): Promise<Runtime> {
  const folder = join(environment.directories.state, 'drafts')
  const draft = join(folder, `${randomUUID()}.toml`)
  const stand = {
    of: configPath(loaded, environment, layer),
    path: draft,
    othersTrusted: isTrusted(loaded.trust),
  }
  const inPlace = text === undefined ? {} : layer === 'user' ? { flags: { config: draft } } : { draft: stand }
  if (text !== undefined) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
  }
  try {
    const inspected = inspectConfig({ cwd: loaded.workspace.root, named: true, environment, ...inPlace })
    const [error] = inspected.errors
    if (inspected.loaded === undefined) throw error ?? new Error('The configuration is invalid.')
    const isKept = (entry: { origin: { file: string } }): boolean =>
      only !== true || entry.origin.file === draft
    const { config } = inspected.loaded
    const { rules, ordered } = config.permissions
    // The draft lies in the state folder; what people read is the name of what it stands for.
    const named = <Entry extends { origin: { file: string } }>(entry: Entry): Entry =>
      entry.origin.file === draft ? { ...entry, origin: { ...entry.origin, file: DRAFT } } : entry
    const permissions = {
      ...config.permissions,
      rules: rules.filter(rule => isKept(rule) && !(remove ?? []).includes(rule.id)).map(named),
      ordered: ordered.filter(isKept).map(named),
    }
    return await createRuntime({
      loaded: { ...inspected.loaded, config: { ...config, permissions } },
      environment,
      approver: noApprover('recorded calls are only judged'),
    })
  } finally {
    if (text !== undefined) rmSync(draft, { force: true })
  }
}

const DRAFT = 'draft'

/** What is wrong with a text for a layer's file, one sentence each. */
export async function problemsOfText(
  parts: { loaded: LoadedConfig; environment: Environment },
  text: string,
  layer: EditableLayer,
): Promise<string[]> {
  try {
    const runtime = await openWithText(parts, { text, layer })
    await runtime.close()
    return []
  } catch (error) {
    if (error instanceof ConfigError) return [describeDraft(error)]
    throw error
  }
}

/** Without the path of the draft. */
export function describeDraft({ detail, line, column, hint }: ConfigError): string {
  const place = line === undefined ? '' : `${line}:${column ?? 1}: `
  return `${place}${detail}${hint === undefined ? '' : ` ${hint}`}`
}
