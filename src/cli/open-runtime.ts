import { resolve } from 'node:path'
import { type LoadedConfig, type LoadOptions, loadConfig } from '../config/load.ts'
import { type Approver, noApprover } from '../core/approval.ts'
import type { Mode } from '../core/decision.ts'
import { toLine, underMargin } from '../core/visible.ts'
import { createRuntime, type Runtime } from '../runtime.ts'
import { type CommandContext, textOption, UsageError } from './command.ts'

const MODES: readonly Mode[] = ['ask', 'accept-edits', 'read-only', 'auto']

/** Where and how the configuration is looked for, from the command line. */
export function loadOptions(context: CommandContext): LoadOptions {
  const { values, environment } = context
  const named = textOption(values, 'cwd') ?? environment.projectRoot
  const config = textOption(values, 'config')
  const profile = textOption(values, 'profile')
  const mode = readMode(textOption(values, 'mode'))
  const language = readLanguage(textOption(values, 'lang'))
  return {
    cwd: named === undefined ? context.cwd : resolve(context.cwd, named),
    named: named !== undefined,
    environment,
    flags: {
      set: [
        ...(Array.isArray(values.set) ? values.set.map(String) : []),
        ...(language === undefined ? [] : [`language=${language}`]),
      ],
      ...(config === undefined ? {} : { config }),
      ...(profile === undefined ? {} : { profile }),
      ...(mode === undefined ? {} : { mode }),
    },
  }
}

/** The configuration for the folder the command works in, with its warnings shown. */
export function loadForCommand(context: CommandContext): LoadedConfig {
  const { output } = context
  const loaded = loadConfig(loadOptions(context))
  for (const warning of loaded.warnings) {
    output.note(`${output.noteStyle('yellow', 'warning:')} ${underMargin(warning.message)}`)
  }
  output.detail(`workspace ${toLine(loaded.workspace.root)}, mode ${loaded.config.mode}`)
  for (const { path, layer, status } of loaded.files) {
    if (status !== 'missing') output.detail(`config ${layer} ${toLine(path)}: ${status}`)
  }
  return loaded
}

/** A runtime for a command; the caller closes it. `onlyRulesOf`: the one file whose rules count. */
export async function openRuntime(
  context: CommandContext,
  approver?: Approver,
  onlyRulesOf?: string,
): Promise<Runtime> {
  const loaded = loadForCommand(context)
  return createRuntime({
    loaded: onlyRulesOf === undefined ? loaded : withRulesOf(loaded, onlyRulesOf),
    environment: context.environment,
    approver: approver ?? noApprover('no terminal is available to ask for approval'),
  })
}

function withRulesOf(loaded: LoadedConfig, file: string): LoadedConfig {
  const { permissions } = loaded.config
  const isFrom = (entry: { origin: { file: string } }): boolean => entry.origin.file === file
  const rules = permissions.rules.filter(isFrom)
  const ordered = permissions.ordered.filter(isFrom)
  return { ...loaded, config: { ...loaded.config, permissions: { ...permissions, rules, ordered } } }
}

const LANGUAGES = ['en', 'ja', 'ko']

/** Of what Kogu writes for others to read: texts of dynamic tools. The command line itself speaks English. */
function readLanguage(text: string | undefined): string | undefined {
  if (text === undefined || LANGUAGES.includes(text)) return text
  throw new UsageError(`--lang takes ${LANGUAGES.join(', ')}, not '${text}'.`)
}

function readMode(text: string | undefined): Mode | undefined {
  if (text === undefined) return undefined
  const mode = MODES.find(candidate => candidate === text)
  if (mode === undefined) throw new UsageError(`--mode takes ${MODES.join(', ')}, not '${text}'.`)
  return mode
}
