import { fillPanel, type TextPanel } from '../panel.ts'
import type { Graph } from './graph.ts'
import type { Step } from './pipeline.ts'
import { fillIn, type Scope, type StepValue, toText, untrustedIn } from './values.ts'

/** What a panel hands over in which no model works: its text, with the values of its step. Nobody reads it as orders here. */
export function panelText(step: Step, panel: TextPanel, scope: Scope, { incoming }: Graph): StepValue {
  const vars = fillIn(step.vars, scope) as Record<string, unknown>
  const before = step.prompt === undefined ? (incoming.get(step.id) ?? []) : []
  const input =
    step.prompt === undefined
      ? before.map(({ from }) => scope.steps[from]?.text ?? '').join('\n\n')
      : toText(fillIn(step.prompt, { ...scope, vars }))
  const values = Object.fromEntries(Object.entries(vars).map(([key, value]) => [key, toText(value)]))
  const text = fillPanel(panel, input, values)
  const sources = [step.vars, step.prompt, ...before.map(({ from }) => `{{steps.${from}.text}}`)]
  // Words of somebody else stay theirs when they are put in another form.
  const untrusted = untrustedIn(sources, scope)
  return { text, data: null, ...(untrusted === undefined ? {} : { untrusted }) }
}
