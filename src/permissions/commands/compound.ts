/** Groups, loops, conditions, functions. All of their commands are judged; few of them can run without a shell. */
import {
  type CommandNode,
  type CompoundList,
  type For,
  type Function as FunctionNode,
  forEachChild,
  type Redirected,
  type SyntaxNode,
  type While,
} from 'unbash'
import { walkEmbedded } from './embedded.ts'
import { judgeRedirects } from './redirects.ts'
import {
  deeper,
  mergeVariables,
  note,
  type Outcome,
  plain,
  type Report,
  type Scope,
  setVariable,
  unionCwds,
} from './state.ts'
import { resolveWord } from './words.ts'

type Compound = Exclude<CommandNode, { type: 'Command' }>

export function walkCompound(node: Compound, scope: Scope, report: Report): Outcome {
  switch (node.type) {
    case 'BraceGroup':
      return plain(scope, report.walkList(node.body.commands, scope))
    case 'Subshell': {
      const steps = report.walkList(node.body.commands, deeper(scope, { forked: true }))
      return { ...plain(scope, steps), subshell: true }
    }
    case 'For':
      return walkFor(node, scope, report)
    case 'While':
      return walkWhile(node, scope, report)
    case 'If':
      return walkBranches(
        [node.clause, node.then, ...node.elif.flatMap(part => [part.clause, part.then]), node.else],
        scope,
        report,
      )
    case 'Case':
      walkEmbedded(node.word, scope, report)
      for (const item of node.items) for (const pattern of item.pattern) walkEmbedded(pattern, scope, report)
      return walkBranches(
        node.items.map(item => item.body),
        scope,
        report,
      )
    case 'TestCommand':
      walkEmbedded(node, scope, report)
      note(report, 'unknown', 'The condition needs a shell.')
      return plain(scope, null)
    case 'Redirected':
      return walkRedirected(node, scope, report)
    case 'Function':
      return walkFunction(node, scope, report)
    case 'Coproc':
      note(report, 'caution', 'Part of the line runs in the background.')
      report.effects.add('background')
      walkLoose(node.body, deeper(scope, { forked: true }), report)
      return plain(scope, null)
    case 'Select':
      note(report, 'interactive', 'The line waits for a person to choose.')
      walkEmbeddedAll(node.wordlist ?? [], scope, report)
      return walkBranches([node.body], scope, report)
    case 'ArithmeticFor':
      walkEmbedded(node, deeper(scope), report)
      return walkBranches([node.body], scope, report)
    case 'ArithmeticCommand':
      walkEmbedded(node, scope, report)
      note(report, 'unknown', 'Arithmetic can change variables and run code in them.')
      return plain(scope, null)
  }
}

function walkEmbeddedAll(nodes: readonly SyntaxNode[], scope: Scope, report: Report): void {
  for (const node of nodes) walkEmbedded(node, scope, report)
}

/** A body that may be any kind of node; wrapped as a statement so that the list walker takes it. */
function walkLoose(node: CommandNode | CompoundList, scope: Scope, report: Report): void {
  if (node.type === 'CompoundList') report.walkList(node.commands, scope)
  else
    report.walkList(
      [{ type: 'Statement', pos: node.pos, end: node.end, command: node, background: undefined }],
      scope,
    )
}

function walkFor(node: For, scope: Scope, report: Report): Outcome {
  const words = node.wordlist ?? []
  walkEmbeddedAll(words, scope, report)
  const args = words.flatMap(word => resolveWord(word, scope))
  note(report, 'unknown', 'The line repeats commands.')
  forgetAssigned(node.body, scope)
  setVariable(scope, node.name.value, { values: args.flatMap(arg => arg.worst).slice(0, 32), exact: false })
  return walkBranches([node.body], scope, report)
}

function walkWhile(node: While, scope: Scope, report: Report): Outcome {
  note(report, 'unknown', 'The line repeats commands until a condition changes.')
  forgetAssigned(node.body, scope)
  return walkBranches([node.clause, node.body], scope, report)
}

/** Variables that a loop changes are not known inside it, since it may have run before. */
function forgetAssigned(node: SyntaxNode, scope: Scope): void {
  if (node.type === 'Assignment') {
    const known = scope.variables.get(node.name)
    setVariable(scope, node.name, { values: known?.values ?? [''], exact: false })
  }
  if (node.type !== 'Word') forEachChild(node, child => forgetAssigned(child, scope))
}

/** Bodies of which any may have run, or none. */
function walkBranches(bodies: readonly (CompoundList | undefined)[], scope: Scope, report: Report): Outcome {
  let cwds = scope.cwds
  for (const body of bodies) {
    if (body === undefined) continue
    const inner = deeper(scope)
    report.walkList(body.commands, inner)
    cwds = unionCwds(cwds, inner.cwds)
    mergeVariables(scope.variables, inner.variables)
    // A condition may change the directory for what follows it.
    scope.cwds = cwds
  }
  return plain(scope, null)
}

function walkRedirected(node: Redirected, scope: Scope, report: Report): Outcome {
  walkEmbeddedAll(node.redirects, scope, report)
  const redirects = judgeRedirects(node.redirects, scope, report)
  const inner = deeper(scope, {
    stdin: redirects.stdin ?? scope.stdin,
    piped: redirects.input || scope.piped,
  })
  walkCompound(node.command, inner, report)
  mergeVariables(scope.variables, inner.variables)
  return plain({ ...scope, cwds: unionCwds(scope.cwds, inner.cwds) }, null)
}

function walkFunction(node: FunctionNode, scope: Scope, report: Report): Outcome {
  const name = node.name.value
  report.functions.add(name)
  report.effects.add('changes-environment')
  note(report, 'unknown', `The line defines a function named \`${name}\`.`)
  walkLoose(node.body, deeper(scope, { inFunction: name, forked: false }), report)
  return plain(scope, null)
}
