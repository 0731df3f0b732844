import { toLine } from '../core/visible.ts'
import { headsOf } from '../pipelines/build/report.ts'
import type { PipelineEvent } from '../pipelines/work.ts'
import type { SavedPipelineRun } from '../store/pipeline-runs.ts'
import type { Output } from './output.ts'
import { firstLines } from './pipeline-runs.ts'
import { createRunView } from './run-view.ts'

/** Shows a build while it runs, on standard error. */
export interface BuildView {
  show(event: PipelineEvent): void
}

export function createBuildView(output: Output, run: SavedPipelineRun): BuildView {
  const { signs } = output
  const calls = createRunView(output, () => undefined)
  let round = run.progress.steps.fix?.round ?? 0
  let spent = 0
  const started = (step: string, what: string): void => {
    const who = what.replace(/^panel kogu-build-/, 'agent ')
    if (step === 'fix') round += 1
    output.note(`${signs.begins} ${step}  ${toLine(who)}${step === 'fix' ? `, round ${round}` : ''}`)
  }
  const finished = (event: Extract<PipelineEvent, { type: 'step.finished' }>): void => {
    const { step, ok, error, text = '', costUsd = 0 } = event
    spent += costUsd
    const checks = step === 'check' || step === 'recheck' ? headsOf(text) : []
    const isNo = !ok || checks.some(line => /: (failed|could not)/.test(line))
    const cost = costUsd > 0 ? `  $${spent.toFixed(4)} so far` : ''
    output.note(`${isNo ? signs.failed : signs.ok} ${step}${cost}`)
    const shown = checks.filter(line => error?.includes(line) !== true)
    for (const line of shown) output.note(`    ${toLine(line, 200)}`)
    if (error !== undefined) output.note(`    ${firstLines(error)}`)
  }
  return {
    show(event) {
      switch (event.type) {
        case 'step.started':
          return started(event.step, event.what)
        case 'step.finished':
          return finished(event)
        case 'step.waiting':
          return output.note(`${signs.waits} ${event.step}  waits ${event.why}`)
        case 'agent.event':
          if (event.event.type !== 'step.finished') calls.show(event.event)
      }
    },
  }
}
