import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import type { Environment } from '../config/environment.ts'
import { inspectConfig, type LoadedConfig } from '../config/load.ts'
import { noApprover } from '../core/approval.ts'
import { createRuntime, type Runtime } from '../runtime.ts'

export type EditableLayer = 'user' | 'project' | 'local'

/** The file of a layer that a person edits. Their own may be a link of theirs, as people do who keep such files together. */
export function configPath(loaded: LoadedConfig, environment: Environment, layer: EditableLayer): string {
  const own = join(environment.directories.config, 'config.toml')
  if (layer === 'user') return existsSync(own) ? realpathSync(own) : own
  return join(loaded.workspace.root, '.kogu', layer === 'project' ? 'config.toml' : 'local.toml')
}

/**
 * What Kogu would be with another text in the place of the person's own file; the caller closes it. With `only`, no rules
 * but those of this text count.
 */
export async function openWithText(
  { loaded, environment }: { loaded: LoadedConfig; environment: Environment },
  { text, only, remove }: { text?: string; only?: boolean; remove?: readonly string[] },
): Promise<Runtime> {
  const folder = join(environment.directories.state, 'drafts')
  const draft = join(folder, `${randomUUID()}.toml`)
  const flags = text === undefined ? {} : { config: draft }
  if (text !== undefined) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
  }
  try {
    const inspected = inspectConfig({ cwd: loaded.workspace.root, named: true, environment, flags })
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
): Promise<string[]> {
  try {
    const runtime = await openWithText(parts, { text })
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
