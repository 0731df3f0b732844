import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Containment } from '../core/command.ts'
import type { Decision } from '../core/decision.ts'
import { isInside } from '../core/real-path.ts'
import { mayRead } from './call-permit.ts'
import type { FoundCommand } from './commands/types.ts'
import type { DecideContext, Judged } from './decide.ts'
import type { EffectName } from './effect-names.ts'
import { type Closed, gitHistoryProblem, namelessObject } from './git/history.ts'
import type { IdentifiedCall } from './grants.ts'
import type { ScopeContext } from './hard-limits.ts'
import { type ExecuteItem, type Item, isGit, REPOSITORY_PROGRAMS, UNCHECKED_FILES } from './items.ts'
import type { Verdict } from './rules/defaults.ts'

// Run first behind walls, ask about what really changed. A line that nothing but the mode asks about runs contained: on
// a layer, without network, with nothing to see that may not be read unasked. Its changes are judged afterwards, by the
// same engine as those of a file tool. What cannot be judged by its changes is asked about before it runs.

export const CONTAINED: Decision = {
  outcome: 'allow',
  by: 'contained',
  ref: {
    id: 'contained',
    source: 'built-in',
    text: 'commands run contained, and what they change is judged',
  },
  reason: 'It runs contained; its changes are judged before any of them is kept.',
}

/** Whether what would be asked about or refused runs contained instead; otherwise, in sentences, why not. */
export function containmentOf(
  { items, request }: IdentifiedCall,
  judged: Judged,
  decided: Decision,
  context: DecideContext,
  containment: (() => Containment) | undefined,
): { works: true } | { works: false; notes: readonly string[] } {
  const isSettled = decided.outcome === 'allow' || decided !== judged.decision || judged.hard !== undefined
  if (isSettled || containment === undefined || items.every(({ kind }) => kind !== 'execute')) return NOT_HERE
  const general = containment()
  if (!general.works) {
    const notes = general.reason === null ? [] : [`It needs an approval before it runs: ${general.reason}`]
    return { works: false, notes }
  }
  const rules = context.rules.filter(rule => rule.applies(request, context.now))
  const isReadable = (path: string): boolean => mayRead(path, rules, request, context)
  const why = whyNotContained(items, judged, { scope: context.scope, mayRead: isReadable })
  if (why !== undefined) return NOT_HERE
  // Other lines run without the objects of such a repository (hidden-files.ts), and git would fail in them.
  const closed = { mayBe: context.mayHide, is: (path: string) => !isReadable(path) }
  const line = items.find(item => item.kind === 'execute')
  const problem = line === undefined ? undefined : gitProblem(line, closed)
  return problem === undefined ? { works: true } : { works: false, notes: [problem] }
}

function gitProblem({ analysis, cwd }: ExecuteItem, closed: Closed): string | undefined {
  const usesGit = analysis.commands.some(({ program }) => program !== null && isGit(program))
  const folders = usesGit ? [cwd, ...analysis.repositories.map(({ path }) => path)] : []
  const problems = folders.map(folder => gitHistoryProblem(folder, closed))
  return [namelessObject(analysis), ...problems].find(problem => problem !== undefined)
}

const NOT_HERE = { works: false, notes: [] } as const

interface ContainContext {
  readonly scope: ScopeContext
  mayRead(realPath: string): boolean
}

/** Why the line has to be asked about before it runs; undefined: it may run contained. */
function whyNotContained(
  items: readonly Item[],
  judged: Judged,
  context: ContainContext,
): string | undefined {
  const line = items.find(item => item.kind === 'execute')
  if (line === undefined || judged.hard !== undefined) return 'it is not a command line'
  const { analysis } = line
  if (analysis.level === 'interactive') return 'it waits for a person'
  if (analysis.level === 'dangerous' && !analysis.commands.every(isHarmlessOnLayer)) return 'it is dangerous'
  const effect = analysis.commands
    .filter(command => !isLocalPackage(command, line.cwd))
    .flatMap(({ effects }) => effects)
    .concat(analysis.effects.filter(name => name === 'background'))
    .find(name => ASKED_BEFORE.has(name))
  if (effect !== undefined) return ASKED_BEFORE.get(effect)
  for (const [index, item] of items.entries()) {
    const verdict = judged.verdicts[index]
    if (verdict === undefined) return 'it was not judged'
    const why = verdict.outcome === 'allow' ? undefined : whyNotItem(item, verdict, context)
    if (why !== undefined) return why
  }
  return undefined
}

/** To delete and move files of the workspace is dangerous without a layer; on one, the question lists each of them. */
function isHarmlessOnLayer({ level, effects }: FoundCommand): boolean {
  return level !== 'dangerous' || effects.every(effect => SHOWN_BY_LAYER.has(effect))
}

const SHOWN_BY_LAYER: ReadonlySet<EffectName> = new Set<EffectName>([
  'reads-files',
  'writes-files',
  'deletes-files',
  'delete-recursive',
])

/** What a layer cannot show, or walls would make fail. */
export const ASKED_BEFORE: ReadonlyMap<EffectName, string> = new Map<EffectName, string>([
  ['network', 'it needs the network'],
  ['sends-data', 'it sends data to another machine'],
  ['remote-shell', 'it opens a shell on another machine'],
  ['publishes', 'it publishes something'],
  ['privilege', 'it runs as another user'],
  ['disk-write', 'it writes to a disk'],
  ['system-change', 'it changes the machine'],
  ['power', 'it restarts the machine'],
  ['containers', 'it controls containers'],
  ['database', 'it contacts a database'],
  ['background', 'it leaves a process running'],
  ['interactive', 'it waits for a person'],
  ['git-changes', 'it changes the repository'],
  ['git-history', 'it changes the history of the repository'],
])

function whyNotItem(item: Item, verdict: Verdict, { scope, mayRead }: ContainContext): string | undefined {
  // A rule or a remembered answer that asks or refuses holds before anything runs.
  const isDefault =
    verdict.ref.source === 'built-in' && verdict.ref.id !== 'default' && verdict.always !== true
  if (!isDefault) return verdict.reason
  switch (item.kind) {
    case 'execute':
      return undefined
    case 'file_write':
    case 'file_delete':
      if (!item.derived) return verdict.reason
      // Named, it would have to be there for the line, and could be read.
      if (!mayRead(item.real) && existsSync(item.real)) return verdict.reason
      return scope.writeScope.some(folder => isInside(item.real, folder)) ? undefined : verdict.reason
    case 'custom':
      return CONTAINABLE.has(item.name) ? undefined : verdict.reason
    case 'file_read':
    case 'network':
    case 'tool':
      return verdict.reason
  }
}

/** Circumstances that only matter to what is behind the walls, and what a line that only reads meets on its way. */
const CONTAINABLE: ReadonlySet<string> = new Set([
  'environment',
  'stdin',
  UNCHECKED_FILES,
  REPOSITORY_PROGRAMS,
])

/** `npx tsc` of a project that has it needs no network. */
function isLocalPackage({ program, argv }: FoundCommand, cwd: string): boolean {
  if (program !== 'npx') return false
  const words = argv.slice(1).map(({ text }) => text)
  const name = words.find(word => word === null || !word.startsWith('-'))
  const options = words.slice(0, words.indexOf(name ?? null))
  if (typeof name !== 'string' || !/^[\w.-]+$/.test(name)) return false
  if (!options.every(word => word === '--no-install' || word === '--no')) return false
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'node_modules/.bin', name))) return true
    if (folder === dirname(folder)) return false
  }
}
