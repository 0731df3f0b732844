import type { ConfigError } from '../config/config-error.ts'

/** file:line:column, the sentence, and the line itself with a caret. */
export function describeConfigError(error: ConfigError): string {
  const place = [error.file, error.line, error.column].filter(part => part !== undefined).join(':')
  return [`${place}: ${error.message}`, error.codeblock, error.hint].filter(part => part).join('\n')
}
