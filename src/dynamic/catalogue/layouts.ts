import type { QualityAssessment } from '../analysis/quality.ts'
import type { SafetyAnalysis } from '../analysis/safety.ts'
import type { DynamicTool } from '../definition.ts'
import type { Catalogue } from './catalogue.ts'

// The layouts that all languages share. In Japanese they are given to the character.

export function createdText(
  tool: DynamicTool,
  texts: Catalogue,
  isVerified: boolean,
  notes: readonly string[],
): string {
  const { labels } = texts
  const parameters = tool.parameters.map(
    ({ name, type, description }) => `- ${name} (${type}): ${onOneLine(description)}`,
  )
  return [
    texts.created(tool.name),
    '',
    `${labels.id}: ${tool.id}`,
    `${labels.safety}: ${tool.safety.score.toFixed(2)}`,
    `${labels.quality}: ${tool.quality.score.toFixed(2)}`,
    `${labels.verification}: ${isVerified ? 'verified' : 'unverified'}`,
    '',
    `${labels.description}:`,
    tool.description,
    '',
    `${labels.parameters}:`,
    ...(parameters.length === 0 ? [texts.none] : parameters),
    '',
    `${labels.usage}:`,
    `run_dynamic_tool({ tool_id: "${tool.id}", parameters: { /* ... */ } })`,
    ...(notes.length === 0 ? [] : ['', ...notes]),
  ].join('\n')
}

export function errorText(message: string, { labels }: Catalogue): string {
  return `${labels.error}: ${message}`
}

export function finishedText(name: string, ms: number, result: string, texts: Catalogue): string {
  const { labels } = texts
  return [texts.finished(name), '', `${labels.time}: ${ms}ms`, '', `${labels.result}:`, result].join('\n')
}

export function failedText(name: string, ms: number, message: string, texts: Catalogue): string {
  const { labels } = texts
  return [texts.failed(name), '', `${labels.time}: ${ms}ms`, `${labels.error}: ${message}`].join('\n')
}

/** `left`: how many more there are. */
export function listText(tools: readonly DynamicTool[], left: number, texts: Catalogue): string {
  if (tools.length === 0) return texts.emptyList
  const { labels } = texts
  const sections = tools.map(tool =>
    [
      `## ${tool.name}`,
      `- ID: ${tool.id}`,
      `- ${labels.description}: ${onOneLine(tool.description)}`,
      `- ${labels.confidence}: ${tool.confidenceScore.toFixed(2)}`,
      `- ${texts.useLine(tool.usageCount, tool.lastUsedAt ?? texts.neverUsed)}`,
      `- ${labels.verification}: ${tool.verificationStatus}`,
      `- ${labels.tags}: ${tool.tags.length === 0 ? texts.none : onOneLine(tool.tags.join(', '))}`,
    ].join('\n'),
  )
  const more = left === 0 ? [] : [texts.moreTools(left, tools.length)]
  return [texts.listTitle(tools.length), ...sections, ...more].join('\n\n')
}

/** What a tool says of itself, or a call is named, cannot look like a line of ours. */
function onOneLine(text: string): string {
  return text.replaceAll(/\s*[\n\r\u2028\u2029]\s*/g, ' ')
}

/** On one line, and not cut through the middle of a character. */
export function shortened(text: string, most: number): string {
  return onOneLine(text.slice(0, most)).replace(/[\ud800-\udbff]$/, '')
}

/** Recommendations of a safety analysis: how many to fix, then one for each kind. */
export function recommendations({ issues }: SafetyAnalysis, texts: Catalogue): string[] {
  const count = (severity: string): number => issues.filter(issue => issue.severity === severity).length
  const kinds = [...new Set(issues.map(({ type }) => type))]
  return [
    ...(count('critical') === 0 ? [] : [texts.critical(count('critical'))]),
    ...(count('high') === 0 ? [] : [texts.high(count('high'))]),
    ...kinds.map(kind => texts.safety[kind].advice),
  ]
}

/** What would raise the quality, one sentence for each rule. */
export function improvements({ issues }: QualityAssessment, texts: Catalogue): string[] {
  return [...new Set(issues.map(({ rule }) => texts.quality[rule] ?? rule))]
}
