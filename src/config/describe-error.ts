import type { ConfigError } from './config-error.ts'

/** The sentence with its place, the line itself with a caret, and what to do. */
export function describeConfigError({ message, codeblock, hint }: ConfigError): string {
  return [message, codeblock, hint].filter(part => part !== undefined && part !== '').join('\n')
}
