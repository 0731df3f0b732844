import { MCP_CALL } from '../../core/access.ts'
import { noApprover } from '../../core/approval.ts'
import { fullAuthority } from '../../core/authority.ts'
import type { JudgeRequest } from '../../core/decision.ts'
import { absolutePath } from '../../core/real-path.ts'
import { createRun } from '../../core/run.ts'
import { closest } from '../../core/suggest.ts'
import type { AnyTool } from '../../core/tool.ts'
import type { analyzeCommand } from '../commands/analyze.ts'
import { EFFECT_NAMES } from '../effect-names.ts'
import { fileItem, type Item } from '../items.ts'
import { analyzeUrl } from '../network/network.ts'
import type { PathContext } from '../paths/paths.ts'
import type { Rule } from './rules.ts'

export interface RuleProblem {
  readonly rule: Rule
  readonly message: string
}

/** Checks what a rule says of itself: its examples (`match`, `not_match`) and the names of effects. */
export async function checkRules(rules: readonly Rule[], context: PathContext): Promise<RuleProblem[]> {
  const hasExamples = rules.some(({ definition }) => (definition.match ?? definition.not_match) !== undefined)
  // Large, and of use only for examples of command lines.
  const analyze = hasExamples ? (await import('../commands/analyze.ts')).analyzeCommand : undefined
  return rules.flatMap(rule => checkRule(rule, context, analyze).map(message => ({ rule, message })))
}

type Analyze = typeof analyzeCommand

function checkRule(rule: Rule, context: PathContext, analyze?: Analyze): string[] {
  const { match = [], not_match = [], effects = [] } = rule.definition
  const matches = (example: string): boolean =>
    itemsOf(rule, example, context, analyze).some(item => rule.matches(item, exampleRequest(rule, context)))
  return [
    ...mixedConditions(rule),
    ...effects.flatMap(effect => {
      if (EFFECT_NAMES.some(name => name === effect)) return []
      const near = closest(effect, EFFECT_NAMES)
      return [`there is no effect '${effect}'.${near === undefined ? '' : ` Did you mean '${near}'?`}`]
    }),
    ...match.filter(example => !matches(example)).map(example => `does not match its example '${example}'.`),
    ...not_match.filter(matches).map(example => `matches '${example}', which is listed in not_match.`),
  ]
}

/** A file, a host and a command are different things: no one of them could match such a rule, or only part of it would. */
function mixedConditions({ definition }: Rule): string[] {
  const { path, host, method, command, effects } = definition
  const kinds = [path, host ?? method, command ?? effects].filter(kind => kind !== undefined)
  return kinds.length > 1 ? ['it mixes path, host and command. Write one rule for each.'] : []
}

/** What an example stands for: a command line, a path or an address, as the rule itself does. */
function itemsOf(rule: Rule, example: string, context: PathContext, analyze?: Analyze): Item[] {
  const { path, host, method } = rule.definition
  if (path !== undefined) {
    const absolute = absolutePath(example.replace(/^~(?=\/)/, context.home), context.workspace)
    return (['file_read', 'file_write', 'file_delete'] as const).map(kind =>
      fileItem(kind, absolute, context, false),
    )
  }
  if (host !== undefined || method !== undefined) {
    const [verb = 'GET', url = ''] = example.includes(' ') ? example.split(' ') : ['GET', example]
    const full = url.includes('://') ? url : `https://${url}/`
    return [{ kind: 'network', url: full, method: verb, facts: analyzeUrl(full), derived: false }]
  }
  if (analyze === undefined) throw new Error('An example is checked before the analyser is loaded.')
  const analysis = analyze(example, { cwd: context.workspace, ...context })
  return [{ kind: 'execute', command: example, cwd: context.workspace, analysis, files: [], derived: false }]
}

function exampleRequest(rule: Rule, context: PathContext): JudgeRequest {
  const [name = ''] = [rule.definition.tool ?? []].flat()
  const toolNames = new Set([name.toLowerCase()])
  return {
    // Only the name of the tool is looked at.
    tool: { name } as AnyTool,
    toolNames,
    fingerprint: '',
    input: {},
    // A star may stand for tools of an MCP server only.
    access: [{ kind: 'custom', name: MCP_CALL, details: '' }],
    risk: 'high',
    cwd: context.workspace,
    run: createRun('example', {
      authority: fullAuthority(context.workspace, 'ask'),
      approver: noApprover('it is an example'),
    }),
  }
}
