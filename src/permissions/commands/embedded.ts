/** Commands inside words: `$(...)`, backticks, `<(...)`, in whatever depth of quotes, arithmetic or defaults. */
import { forEachChild, type ParsedScript, type SyntaxNode } from 'unbash'
import { countStep, deeper, note, type Report, type Scope } from './state.ts'

export function walkEmbedded(node: SyntaxNode, scope: Scope, report: Report): void {
  if (node.type === 'Word' && node.parts === undefined) return
  if (node.type === 'Script') {
    report.walkScript(node as ParsedScript, deeper(scope, { forked: true })) // `as`: Script nodes inside words are parsed ones
    return
  }
  countStep(report)
  if (node.type === 'Word' && /\$\(\([\s\S]*(?:;|\n|\bcase\b)/.test(node.text))
    walkAmbiguous(node.text, scope, report)
  if (node.type === 'ParameterExpansion' && (node.prefix === '!' || node.operation?.type === 'Transform')) {
    note(report, 'unknown', `\`${node.text}\` can run code that is hidden in a variable.`)
    if (node.index === undefined) report.startsUnknown = true
  }
  forEachChild(node, child => walkEmbedded(child, scope, report))
}

/** `$((a; b) ; c)` is no arithmetic to bash but `$( (a; b) ; c)`; with a `case` inside the parser loses the end of it. */
function walkAmbiguous(text: string, scope: Scope, report: Report): void {
  note(report, 'unknown', 'A part of the line can be read as arithmetic or as a command.')
  report.walkText(`echo ${text.replaceAll('$((', '$( (')}`, deeper(scope, { forked: true }))
}
