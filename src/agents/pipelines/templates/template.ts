/** What `kogu pipeline new NAME --template T` writes. In every text NAME stands for the name that the person gave. */
export interface PipelineTemplate {
  readonly pipeline: string
  /** By the end of their names: `NAME-writer`. */
  readonly panels?: Readonly<Record<string, string>>
  /** What `--rehearse` plays for each panel, so that the pipeline can be seen at work without a model. */
  readonly rehearsals?: Readonly<Record<string, string>>
}

/** The last step of most templates: a person sees the text before it is written. */
export const writeStep = (from: string, path: string): string => `[[step]]
id = "write"
tool = "write_file"
args = { path = "${path}", content = "{{steps.${from}.text}}" }
gate = "approval"
`

export const edges = (...pairs: string[]): string =>
  pairs
    .map(pair => {
      const [from = '', to = '', ...more] = pair.split(' ')
      return `[[edge]]\nfrom = "${from}"\nto = "${to}"\n${more.map(key => `${key.replace('=', ' = ')}\n`).join('')}`
    })
    .join('\n')

/** What `self_eval` says of a check that failed. */
export const CHECK_FAILED = 'regex:(build|lint|type_check|test): (failed in|could not run)'
/**
 * The checks ran, and none failed or was refused. Only what failed is printed with its output, so a check that passed cannot
 * say that it failed.
 */
export const CHECKS_PASSED =
  'regex:^(build|lint|type_check|test): (passed in|skipped) AND not:: failed in AND not:: could not run'

/** An edge that is followed when the condition holds for what `from` said. */
export const onlyWhen = (from: string, to: string, condition: string): string => `
[[edge]]
from = "${from}"
to = "${to}"
when = "${condition}"
`

/** Back to an earlier step while a check of `self_eval` fails, three times at most. */
export const untilChecksPass = (from: string, to: string, most = 3): string =>
  `${onlyWhen(from, to, CHECK_FAILED)}max_retries = ${most}
`

export const says = (...texts: string[]): string =>
  texts.map(text => `[[answer]]\ntext = """\n${text}"""\n`).join('\n')
