import {
  ANY_HOST,
  GIT_READ,
  ISOLATED_CODE,
  LEAVING_LINK,
  MCP_CALL,
  NOT_UNDOABLE,
  OVERWRITE_UNREAD,
  PROTECTED_FILES,
  UNWALLED_CODE,
  WRITE_HARD_LINK,
} from '../../core/access.ts'
import type { DecidedBy, DecisionRef, JudgeRequest, Mode, Outcome } from '../../core/decision.ts'
import {
  type FileItem,
  GIT_PUSH,
  type Item,
  NO_SANDBOX,
  REPOSITORY_PROGRAMS,
  UNCHECKED_FILES,
  UNCHECKED_PATTERN,
  UNREAD_LINE,
} from '../items.ts'
import { isSensitive } from '../paths/paths.ts'

/** What is decided about one item when no rule speaks of it. */
export interface Verdict {
  readonly outcome: Outcome
  readonly by: DecidedBy
  readonly ref: DecisionRef
  readonly reason: string
  /** No grant lifts it. */
  readonly always?: boolean
  /** Nobody is asked in this mode, so it is refused; a grant answers all the same. */
  readonly unasked?: boolean
}

export const STRICTNESS: Readonly<Record<Outcome, number>> = { allow: 0, ask: 1, deny: 2 }

/** `default` of the permissions section: what happens where a mode would ask. */
export type Fallback = 'ask' | 'deny'

/**
 * The modes, by what they let through without asking. All of them: reading what is not sensitive, command lines that
 * only read, and what rules and grants allow. `accept-edits`: also file tools that write inside the scope. `read-only`:
 * nothing that changes anything, whatever rules say. `auto`: nobody is asked, so what would be asked is refused.
 */
export function defaultVerdict(item: Item, request: JudgeRequest, fallback: Fallback): Verdict {
  const { mode } = request.run.authority
  const ask = (reason: string): Verdict => unsettled(mode, fallback, reason)
  switch (item.kind) {
    case 'file_read':
      return readVerdict(item, mode, fallback)
    case 'file_write':
    case 'file_delete':
      return writeVerdict(item, mode, fallback)
    case 'execute':
      return commandVerdict(item, mode, fallback)
    case 'network':
      if (item.derived) return allowed('part-of-command', 'Decided by the command as a whole.')
      if (request.risk === 'low' && (item.method === 'GET' || item.method === 'HEAD')) {
        return allowed('public-web', 'Reading public web pages is allowed.')
      }
      return ask(`${item.method} ${item.url} sends data to another machine.`)
    case 'custom':
      // Only a tool of our own is believed that looking is all it does.
      if (item.name === GIT_READ && request.tool.isPartOfKogu === true) {
        return allowed('git-read', 'Looking at a repository is allowed.')
      }
      if (item.name === ISOLATED_CODE && request.tool.isIsolated === true)
        return allowed('isolated-code', 'It runs in an isolate; what it wants from outside is judged apart.')
      return ask(asSentence(`${CUSTOM_WORDS[item.name] ?? item.name} needs an approval: ${item.details}`))
    case 'tool':
      if (request.access.length > 0 || request.risk === 'low') {
        return allowed('tool', 'Decided by what the call touches.')
      }
      return ask(`'${request.tool.name}' has side effects that are not known in advance.`)
  }
}

const CUSTOM_WORDS: Readonly<Record<string, string>> = {
  [OVERWRITE_UNREAD]:
    'Replacing a file whose current content this run has not read in full (use read_file first, or pass expected_hash)',
  [WRITE_HARD_LINK]: 'Writing a file that has several names (hard links)',
  [NOT_UNDOABLE]: 'Losing content that is too large to keep for undo',
  [LEAVING_LINK]:
    'Making a symlink that leads out of the workspace, or to files that tools run by themselves,',
  [PROTECTED_FILES]: 'Letting git change files that tools run by themselves',
  [UNWALLED_CODE]: 'Running model-written code without a sandbox around its isolate',
  [MCP_CALL]: 'Calling a tool of an MCP server',
  create_tool: 'Making a tool',
  delete_dynamic_tool: 'Deleting a tool',
  [ANY_HOST]: 'Leaving the network open to a command',
  command_input: 'Writing to a running command',
  environment: 'Setting variables for a command',
  background: 'Leaving a command running',
  stdin: 'Giving a command input',
  [NO_SANDBOX]: 'Running a command without a sandbox always',
  [GIT_PUSH]: 'Pushing always',
  [UNCHECKED_FILES]: 'Reading files that cannot all be checked',
  [UNCHECKED_PATTERN]: 'Reading files that cannot all be checked',
  [UNREAD_LINE]: 'Running a line that cannot be read in full',
  [REPOSITORY_PROGRAMS]: 'Starting programs of the repository',
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

function readVerdict(item: FileItem, mode: Mode, fallback: Fallback): Verdict {
  if (isSensitive(item)) {
    return sensitive(mode, fallback, `Reading '${item.path}' needs an approval: ${item.facts.why}.`)
  }
  return allowed('read', 'Reading files that are not sensitive is allowed.')
}

function writeVerdict(item: FileItem, mode: Mode, fallback: Fallback): Verdict {
  const verb = item.kind === 'file_write' ? 'Writing' : 'Deleting'
  if (mode === 'read-only') return modeDenies(`${verb} '${item.path}' is refused: the mode is read-only.`)
  if (isSensitive(item)) {
    return sensitive(mode, fallback, `${verb} '${item.path}' needs an approval: ${item.facts.why}.`)
  }
  if (item.derived) return allowed('part-of-command', 'Decided by the command as a whole.')
  if (mode === 'accept-edits' && item.kind === 'file_write') {
    const reason = 'The mode accepts edits inside the workspace.'
    return { outcome: 'allow', by: 'mode', ref: ref('mode-accept-edits', 'mode accept-edits'), reason }
  }
  return unsettled(mode, fallback, `${verb} '${item.path}' needs an approval.`)
}

function commandVerdict(item: Item & { kind: 'execute' }, mode: Mode, fallback: Fallback): Verdict {
  const { analysis } = item
  if (analysis.level === 'safe') return allowed('safe-command', 'The command only reads.')
  const why = analysis.reasons[0]?.text ?? 'Kogu does not know what this command does.'
  return unsettled(mode, fallback, `Running this command needs an approval: ${why}`)
}

function unsettled(mode: Mode, fallback: Fallback, reason: string): Verdict {
  if (mode === 'read-only') return modeDenies(`${reason} The mode is read-only, so it is refused.`)
  if (mode === 'auto') {
    const refused = modeDenies(`${reason} In the mode auto nobody is asked, and no rule allows it.`, 'auto')
    return { ...refused, unasked: true }
  }
  if (fallback === 'deny') {
    const byDefault = ref('default', 'permissions.default = "deny"')
    return { outcome: 'deny', by: 'rule', ref: byDefault, reason, unasked: true }
  }
  return { outcome: 'ask', by: 'mode', ref: ref(`mode-${mode}`, `mode ${mode}`), reason }
}

function sensitive(mode: Mode, fallback: Fallback, reason: string): Verdict {
  const verdict = unsettled(mode, fallback, reason)
  return verdict.outcome === 'ask'
    ? { ...verdict, by: 'rule', ref: ref('sensitive', 'sensitive files ask') }
    : verdict
}

function modeDenies(reason: string, mode: Mode = 'read-only'): Verdict {
  return { outcome: 'deny', by: 'mode', ref: ref(`mode-${mode}`, `mode ${mode}`), reason }
}

function allowed(id: string, reason: string): Verdict {
  return { outcome: 'allow', by: 'rule', ref: ref(id, reason), reason }
}

function ref(id: string, text: string): DecisionRef {
  return { id, source: 'built-in', text }
}
