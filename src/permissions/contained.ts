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
  items: readonly Item[],
  judged: Judged,
  decided: Decision,
  context: DecideContext,
  containment: (() => Containment) | undefined,
): { works: true } | { works: false; notes: readonly string[] } {
  const line = items.find(item => item.kind === 'execute')
  const isSettled = decided.outcome === 'allow' || decided !== judged.decision || judged.hard !== undefined
  if (isSettled || containment === undefined || line === undefined) return NOT_CONTAINED
  const general = containment()
  if (!general.works) {
    const notes = general.reason === null ? [] : [`It needs an approval before it runs: ${general.reason}`]
    return { works: false, notes }
  }
  const isJudgedLater = (item: Item, index: number): boolean => {
    const verdict = judged.verdicts[index]
    return verdict?.outcome === 'allow' || (verdict !== undefined && canWait(item, verdict, context))
  }
  if (!isShownByLayer(line) || !items.every(isJudgedLater)) return NOT_CONTAINED
  // Other lines run without the objects of such a repository (hidden-files.ts), and git would fail in them.
  const closed = { mayBe: context.mayHide, is: (path: string) => !mayRead(path, context) }
  const problem = gitProblem(line, closed)
  return problem === undefined ? { works: true } : { works: false, notes: [problem] }
}

function gitProblem({ analysis, cwd }: ExecuteItem, closed: Closed): string | undefined {
  const usesGit = analysis.commands.some(({ program }) => program !== null && isGit(program))
  const folders = usesGit ? [cwd, ...analysis.repositories.map(({ path }) => path)] : []
  const problems = folders.map(folder => gitHistoryProblem(folder, closed))
  return [namelessObject(analysis), ...problems].find(problem => problem !== undefined)
}

const NOT_CONTAINED = { works: false, notes: [] } as const

/** Whether all that the line does is a change that its layer can show. */
function isShownByLayer({ analysis, cwd }: ExecuteItem): boolean {
  const { level, commands, effects } = analysis
  if (level === 'interactive' || (level === 'dangerous' && !commands.every(isHarmlessOnLayer))) return false
  const ofCommands = commands.filter(each => !isLocalPackage(each, cwd)).flatMap(each => each.effects)
  return !effects.includes('background') && !ofCommands.some(effect => ASKED_BEFORE.has(effect))
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
export const ASKED_BEFORE: ReadonlySet<EffectName> = new Set<EffectName>([
  'network',
  'sends-data',
  'remote-shell',
  'publishes',
  'privilege',
  'disk-write',
  'system-change',
  'power',
  'containers',
  'database',
  'background',
  'interactive',
  'git-changes',
  'git-history',
])

/** Whether it is enough to judge what the line really did. */
function canWait(item: Item, verdict: Verdict, context: DecideContext): boolean {
  // A rule or a remembered answer that asks or refuses holds before anything runs.
  if (verdict.ref.source !== 'built-in' || verdict.ref.id === 'default' || verdict.always === true)
    return false
  switch (item.kind) {
    case 'execute':
      return true
    case 'file_write':
    case 'file_delete':
      // Named, a secret would have to be there for the line, and could be read.
      if (!item.derived || (!mayRead(item.real, context) && existsSync(item.real))) return false
      return context.scope.writeScope.some(folder => isInside(item.real, folder))
    case 'custom':
      return CONTAINABLE.has(item.name)
    case 'file_read':
    case 'network':
    case 'tool':
      return false
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
