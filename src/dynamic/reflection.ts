import type { Catalogue, KeywordGroup } from './catalogue/catalogue.ts'
import { shortened } from './catalogue/layouts.ts'
import type { DynamicTool } from './definition.ts'
import type { PastCall } from './parts.ts'
import { type Proposal, proposalFor, proposalText } from './proposals.ts'

export interface ReflectionInput {
  readonly task: string
  readonly lastResult: string
  /** As the caller counts them; otherwise the calls of the run that failed. */
  readonly failedAttempts?: number
  readonly history: readonly PastCall[]
  readonly tools: readonly DynamicTool[]
  /** Failures after which a tool is recommended. */
  readonly threshold: number
}

export interface Reflection {
  readonly outcome: 'create' | 'improve' | 'continue'
  readonly reasons: readonly string[]
  readonly failures: number
  readonly reusable: boolean
  /** Tools that exist already and fit the task, the best first. */
  readonly existing: readonly string[]
  readonly proposal?: Proposal
}

const KEYWORDS: Readonly<Record<KeywordGroup, RegExp>> = {
  repetition: /繰り返し|反復|複数回|repeat|every file|each of|multiple times|반복|여러 번/i,
  conversion: /変換|フォーマット|パース|convert|transform|format|parse|변환|포맷|파싱/i,
  api: /API呼び出し|外部アクセス|API call|external (API|service)|REST API|API 호출|외부 접근/i,
  validation: /検証|バリデーション|チェック|validat|verif|\bcheck|검증|확인/i,
  aggregation: /集計|サマリー|統計|aggregat|summar|statistic|average|집계|요약|통계/i,
}

/** The same operation at least so often. */
const REPEATED = 2
const MOST_DESCRIPTION = 100
const MOST_REUSABLE = 1000
/** Names come from calls that may have failed: they can be anything. */
const MOST_OPERATION = 80
/** Of a task that is compared with every tool. */
const MOST_COMPARED = 2000

/** Repetition → failures → kind of task: make a tool. Then a chain or an error: improve. Otherwise go on. Pure. */
export function reflect(input: ReflectionInput, texts: Catalogue): Reflection {
  const { task, lastResult, history, threshold } = input
  const failures = input.failedAttempts ?? history.filter(({ ok }) => !ok).length
  const made = new Set(input.tools.map(({ name }) => name.toLowerCase()))
  // What is a tool already is no reason to make one.
  const repeated = findRepeated(history.filter(({ tool }) => !made.has(tool.toLowerCase())))
  const groups = keywordGroups(task)
  const common = {
    failures,
    reusable:
      /成功|完了|結果|success|done|complete|result|성공|완료|결과/i.test(lastResult) &&
      lastResult.length < MOST_REUSABLE,
    existing: fitting(task, input.tools),
  }
  const { reflection } = texts
  const reasons = [
    ...(repeated === undefined ? [] : [reflection.repeated(repeated.operation, repeated.count)]),
    ...(failures >= threshold ? [reflection.failedOften(failures)] : []),
    ...groups.map(group => reflection.keywords[group]),
  ]
  if (reasons.length > 0)
    return {
      outcome: 'create',
      reasons,
      ...common,
      proposal: proposalFor(task, groups[0] ?? 'repetition', texts),
    }
  const suggestions = [
    ...(isChain(lastResult) ? [reflection.chain] : []),
    ...(/error|エラー|失敗|오류|실패/i.test(lastResult) ? [reflection.errorSeen] : []),
  ]
  return { outcome: suggestions.length > 0 ? 'improve' : 'continue', reasons: suggestions, ...common }
}

export function reflectionText(task: string, result: Reflection, texts: Catalogue): string {
  const { labels, reflection: words } = texts
  const head = [
    words.title,
    '',
    words.analysis,
    `- ${labels.description}: ${shortened(task, MOST_DESCRIPTION)}...`,
    `- ${words.failures}: ${result.failures}`,
    '',
  ]
  if (result.outcome === 'create' && result.proposal !== undefined)
    return [
      ...head,
      words.recommended,
      `- ${words.reason}: ${result.reasons.join(', ')}`,
      '',
      words.next,
      words.command,
      proposalText(result.proposal),
    ].join('\n')
  const improvements = [...result.reasons, ...result.existing.map(words.existing)]
  return [
    ...head,
    ...(result.outcome === 'improve' ? [words.improve, ...improvements.map(line => `- ${line}`), ''] : []),
    words.direct,
    `- ${words.reason}: ${words.notNeeded}`,
    `- ${words.reusable}: ${result.reusable ? words.yes : words.no}`,
  ].join('\n')
}

function keywordGroups(task: string): KeywordGroup[] {
  // The keys of KEYWORDS are its groups.
  return (Object.keys(KEYWORDS) as KeywordGroup[]).filter(group => KEYWORDS[group].test(task))
}

/** What is done with this system itself is not work that a tool would take over. */
const NO_OPERATION = /^((create|run_dynamic|delete_dynamic)_tool|list_dynamic_tools|tool_reflection)$/

function findRepeated(history: readonly PastCall[]): { operation: string; count: number } | undefined {
  const counts = new Map<string, number>()
  for (const call of history) {
    const operation = operationOf(call)
    if (operation === undefined) continue
    const shown = shortened(operation, MOST_OPERATION)
    counts.set(shown, (counts.get(shown) ?? 0) + 1)
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1])
  return most !== undefined && most[1] >= REPEATED ? { operation: most[0], count: most[1] } : undefined
}

/** What stays the same when an operation is done to another thing: the program of a command, the kind of a file. */
function operationOf({ tool, input }: PastCall): string | undefined {
  if (NO_OPERATION.test(tool)) return undefined
  const { command, path, url } =
    typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
  if (typeof command === 'string') return `${tool} ${command.trim().split(/\s+/)[0] ?? ''}`
  if (typeof path === 'string') return `${tool} ${/\.\w+$/.exec(path)?.[0] ?? ''}`.trim()
  if (typeof url === 'string') return `${tool} ${URL.parse(url)?.hostname ?? ''}`.trim()
  return tool
}

function isChain(text: string): boolean {
  return text.split('|').length > 3 || text.split('&&').length > 2
}

/** Words of the task that a tool's name, description or tags have, weighted by how far it is trusted. */
function fitting(task: string, tools: readonly DynamicTool[]): string[] {
  const words =
    task
      .slice(0, MOST_COMPARED)
      .toLowerCase()
      .match(/[\p{L}\p{N}]{3,}/gu) ?? []
  return tools
    .map(tool => {
      const text = [tool.name, tool.description, ...tool.tags].join(' ').toLowerCase()
      const hits = words.filter(word => text.includes(word)).length
      return { name: tool.name, score: hits * (0.5 + 0.5 * tool.confidenceScore) }
    })
    .filter(({ score }) => score >= 1)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ name }) => name)
}
