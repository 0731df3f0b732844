/** jq and yq programs: anything that only looks at its input. `env`, `$ENV` and modules reach further. */
import type { ParsedFlags } from '../flags.ts'
import { jqMayLoop } from './endless.ts'

export function checkJq(parsed: ParsedFlags): string | null {
  if (['--version', '-V', '--help', '-h', '--build-configuration'].some(flag => parsed.flags.has(flag)))
    return null
  const program = parsed.operands[0]
  // `jq -r < file` without a program is `.`.
  if (program === undefined) return null
  if (parsed.shifted || program.text === null) return 'the program is not known'
  // Fields (`.env`) and plain strings are data. With a comment or a backslash it is not clear where strings end.
  const unclear = /[#\\]/.test(program.text)
  const plain = unclear ? program.text : program.text.replace(/"[^"\n]*"/g, '""')
  const names = plain.replace(/(?<!\.)\.[A-Za-z_]\w*/g, '')
  const reaches = /\b(?:env|import|include|modulemeta|get_search_list)\b|\$ENV|\$__prog/
  if (jqMayLoop(program.text)) return 'its program may run without end'
  return reaches.test(names) ? 'its program can read the environment or other files' : null
}

/** Only plain paths: yq has operators that load files and read the environment. */
export function checkYq(parsed: ParsedFlags): string | null {
  if (parsed.flags.has('--version') || parsed.flags.has('-V')) return null
  const program = parsed.operands[0]?.text
  if (parsed.shifted || program === undefined || program === null) return 'the program is not known'
  return /^\.[\w.[\]"* -]*(?:\s*\|\s*(?:keys|length|type)\s*)?$/.test(program)
    ? null
    : 'its program is not a plain path'
}
