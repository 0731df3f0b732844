import { expandBraces } from '../../core/glob.ts'
import { compileWildcard, type NameTest } from '../../core/wildcard.ts'
import type { McpServerConfig } from './server-config.ts'
import type { ToolDefinition } from './tool-definition.ts'

/** By the server's own names: an allowlist also keeps out what comes later. */
export function isWanted({ on, off }: McpServerConfig): (tool: ToolDefinition) => boolean {
  const isOn = on.length === 0 ? () => true : compileNames(on)
  const isOff = compileNames(off)
  return ({ name }) => isOn(name) && !isOff(name)
}

/**
 * A star stands for any characters, slashes too: what is off must not come back under an odd name. A backslash takes the
 * meaning of the sign after it (`core/wildcard.ts`, exactName).
 */
export function compileNames(patterns: readonly string[]): NameTest {
  const tests = patterns
    .flatMap(expandBraces)
    // No sets of characters: only `*` and `?` mean more than themselves.
    .map(pattern => pattern.toLowerCase().replaceAll(/\\.|\[/gs, sign => (sign === '[' ? '\\[' : sign)))
    .map(pattern => compileWildcard(pattern, false))
  return name => tests.some(test => test(name.toLowerCase()))
}
