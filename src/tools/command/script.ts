import type { CommandPlan, CommandRedirect, CommandStage, CommandStep } from '../../core/command.ts'
import { quoteWord } from '../../core/shell-words.ts'

/**
 * A plan of several programs as text for `sh`, which is there to build the pipes and nothing else: every word is quoted
 * and every program named by its full path, so that no expansion, builtin, alias or function is left to interpret.
 */
export function toScript(plan: CommandPlan, findProgram: (name: string) => string): string {
  return plan.steps
    .map((step, index) => {
      const text = `${step.negate ? '! ' : ''}${toStep(step, findProgram)}`
      return index === 0
        ? text
        : `${step.join === ';' || step.join === 'first' ? '\n' : ` ${step.join} `}${text}`
    })
    .join('')
}

/** The words of the only program, when the plan is just one with nothing around it. */
export function onlyProgram(plan: CommandPlan): string[] | undefined {
  const [step, ...more] = plan.steps
  if (step?.kind !== 'pipeline' || more.length > 0 || step.negate) return undefined
  const [stage, ...others] = step.stages
  if (stage === undefined || others.length > 0 || stage.redirects.length > 0) return undefined
  return [...stage.argv]
}

function toStep(step: CommandStep, findProgram: (name: string) => string): string {
  if (step.kind === 'cd') return `cd -- ${quoteWord(step.directory)}`
  return step.stages.map(stage => toStage(stage, findProgram)).join(' | ')
}

function toStage({ argv, redirects }: CommandStage, findProgram: (name: string) => string): string {
  const [program = '', ...args] = argv
  const words = [
    quoteWord(findProgram(program)),
    ...args.map(quoteWord),
    ...redirects.flatMap(toRedirect),
  ].join(' ')
  const input = redirects.find(redirect => redirect.kind === 'text')
  // Text as input comes from a program of its own: a here-document would need a delimiter that the text cannot contain.
  return input === undefined
    ? words
    : `{ ${quoteWord(findProgram('printf'))} '%s' ${quoteWord(input.text)} | ${words}; }`
}

function toRedirect(redirect: CommandRedirect): string[] {
  switch (redirect.kind) {
    case 'null':
      return [redirect.fd === 0 ? '</dev/null' : `${redirect.fd}>/dev/null`]
    case 'dup':
      return [`${redirect.fd}>&${redirect.of}`]
    case 'file':
      return [`<${quoteWord(redirect.path)}`]
    case 'text':
      return []
  }
}
