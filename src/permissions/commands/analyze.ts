/**
 * From a command line to what it would do. Pure: no file system, no clock, no environment. The order: text checks,
 * parse, walk, whole-line rules, and at the end the one invariant: a line is safe exactly when it has a plan.
 */
import { judgeCommand } from './simple.ts'
import { LIMIT, note, noteUnread, type Report, type Scope, stricter, TOO_DEEP } from './state.ts'
import {
  type CommandAnalysis,
  type CommandContext,
  LEVEL_SCORES,
  type Level,
  type PlanStep,
  type SafePlan,
} from './types.ts'
import { walkCode, walkText } from './walk.ts'

export type { CommandAnalysis, CommandContext, Level, SafePlan } from './types.ts'

/** Must not throw: whatever goes wrong makes the line ask. */
export function analyzeCommand(line: string, context: CommandContext): CommandAnalysis {
  const asWritten = analyzeLine(line, context)
  if (!line.includes('\\\n')) return asWritten
  // A continuation may stand inside any word or operator, and some checks look at the text of those. To a shell it is not
  // there, so the line without it is looked at too; what it finds can only make the verdict stricter.
  const joined = analyzeLine(joinLines(line), context)
  return joined.score > asWritten.score ? withBoth(joined, asWritten) : asWritten
}

/** Of an escaped backslash, the second one escapes no line break. */
function joinLines(line: string): string {
  return line.replace(/\\([\s\S])/g, (pair, escaped) => (escaped === '\n' ? '' : pair))
}

function withBoth(joined: CommandAnalysis, asWritten: CommandAnalysis): CommandAnalysis {
  return {
    ...joined,
    line: asWritten.line,
    access: [...joined.access, ...asWritten.access],
    globs: [...joined.globs, ...asWritten.globs],
    trees: [...joined.trees, ...asWritten.trees],
    repositories: [...joined.repositories, ...asWritten.repositories],
    effects: [...new Set([...joined.effects, ...asWritten.effects])],
    unresolved: joined.unresolved || asWritten.unresolved,
    unread: joined.unread || asWritten.unread,
    startsUnknown: joined.startsUnknown || asWritten.startsUnknown,
    plan: null,
  }
}

function analyzeLine(line: string, context: CommandContext): CommandAnalysis {
  const report = newReport(line, context)
  let steps: PlanStep[] | null = null
  try {
    steps = walkCode(line, newScope(context), report)
  } catch (error) {
    // A limit, a stack overflow in the parser, a bug: all of them end here, and the raw scan replaces the walk.
    const limit = error === LIMIT || error === TOO_DEEP || error instanceof RangeError
    noteUnread(
      report,
      limit ? 'The line is too long or too deep to be analysed.' : 'The line could not be analysed.',
    )
  }
  checkForkBombs(report)
  return finish(report, steps)
}

/** Functions that start themselves again in the background or through a pipe. Others end at the limit of processes. */
function checkForkBombs(report: Report): void {
  const own = report.calls.filter(call => call.from === call.to && report.functions.has(call.to))
  for (const { to, forked } of own) {
    if (forked || own.filter(call => call.to === to).length > 1)
      note(report, 'forbidden', 'This is a fork bomb: a function starts itself again and again.')
    else note(report, 'dangerous', `The function \`${to}\` calls itself without end.`)
  }
}

function newReport(line: string, context: CommandContext): Report {
  const report: Report = {
    line,
    context,
    reasons: [],
    commands: [],
    access: new Map(),
    globs: new Map(),
    trees: new Map(),
    repositories: new Map(),
    effects: new Set(),
    unresolved: false,
    unread: false,
    startsUnknown: false,
    interactiveProgram: null,
    calls: [],
    functions: new Set(),
    aliases: new Map(),
    steps: 0,
    walkText: (text, scope) => walkText(text, scope, report),
    judge: (args, scope) => judgeCommand(args, scope, report),
  }
  return report
}

function newScope(context: CommandContext): Scope {
  return {
    cwds: [context.cwd],
    oldCwd: null,
    variables: new Map([['HOME', { values: [context.home], exact: true }]]),
    inFunction: null,
    forked: false,
    stdin: null,
    piped: false,
    depth: 0,
  }
}

function finish(report: Report, steps: PlanStep[] | null): CommandAnalysis {
  const plan = toPlan(report, steps)
  if (plan === null && lineLevel(report) === 'safe') {
    const text =
      report.commands.length === 0 ? 'The line has no command.' : 'The line can only be run by a shell.'
    note(report, 'unknown', text)
  }
  const level = lineLevel(report)
  return {
    line: report.line,
    level,
    score: LEVEL_SCORES[level],
    reasons: report.reasons.toSorted((a, b) => LEVEL_SCORES[b.level] - LEVEL_SCORES[a.level]),
    commands: report.commands,
    access: [...report.access.values()],
    globs: [...report.globs.values()],
    trees: [...report.trees.values()],
    repositories: [...report.repositories.values()],
    effects: [...report.effects],
    unresolved: report.unresolved,
    unread: report.unread,
    startsUnknown: report.startsUnknown,
    interactiveProgram: report.interactiveProgram,
    plan,
  }
}

function toPlan(report: Report, steps: PlanStep[] | null): SafePlan | null {
  if (steps === null || steps.length === 0 || report.unresolved) return null
  return lineLevel(report) === 'safe' ? { steps } : null
}

function lineLevel(report: Report): Level {
  let level: Level = 'safe'
  for (const finding of report.reasons) level = stricter(level, finding.level)
  for (const command of report.commands) level = stricter(level, command.level)
  return level
}
