import { expandBraces } from '../../core/glob.ts'
import { compileText, type NameTest } from '../../core/wildcard.ts'
import type { McpServerConfig } from './server-config.ts'
import type { ToolDefinition } from './tool-definition.ts'

/** By the server's own names: an allowlist also keeps out what comes later. */
export function isWanted({ on, off }: McpServerConfig): (tool: ToolDefinition) => boolean {
  const isOn = on.length === 0 ? () => true : compileNames(on)
  const isOff = compileNames(off)
  return ({ name }) => isOn(name) && !isOff(name)
}

/** A star stands for any characters, slashes too: what is off must not come back under an odd name. */
export function compileNames(patterns: readonly string[]): NameTest {
  const tests = patterns.flatMap(expandBraces).map(pattern => compileText(pattern.toLowerCase()))
  return name => tests.some(test => test(name.toLowerCase()))
}
