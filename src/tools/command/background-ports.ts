import * as z from 'zod'
import type { CommandPermit } from '../../core/command.ts'
import { ToolError } from '../../core/errors.ts'
import { type PortFolder, PROXY_PORT } from '../../sandbox/network/network.ts'
import type { CommandParts } from './parts.ts'

/** Below it are ports that only root may open. */
const FIRST_PORT = 1024
const LAST_PORT = 65_535
const MOST_PORTS = 8

/** The parameter `ports` of run_command. */
export function portsInput() {
  const range = `must be a port from ${FIRST_PORT} to ${LAST_PORT}`
  return z
    .array(
      z
        .int(range)
        .min(FIRST_PORT, range)
        .max(LAST_PORT, range)
        .refine(port => port !== PROXY_PORT, `${PROXY_PORT} is taken in every sandbox that has a network`),
    )
    .max(MOST_PORTS, `names more than ${MOST_PORTS} ports`)
    .refine(ports => new Set(ports).size === ports.length, 'names a port twice')
    .default([])
}

/** A foreground command ends before anybody could use its ports. */
export function refusePortsInForeground({
  background,
  ports,
}: {
  background: boolean
  ports: number[]
}): void {
  if (background || ports.length === 0) return
  throw new ToolError('invalid_input', 'Only a background command can open ports.', {
    hint: 'Add "background": true.',
  })
}

/**
 * The ports of this workspace's background commands, for a line that was approved. A preview reaches nobody, because
 * what it asks of a server cannot be thrown away; a line that runs unasked reaches nobody at all.
 */
export async function portsInReach(
  { background, sandbox }: CommandParts,
  { plan, contained }: CommandPermit,
  preview: boolean,
): Promise<readonly PortFolder[]> {
  const isApart = plan !== null || contained === true || preview || sandbox === null
  return isApart ? [] : await background().openPorts()
}

/** Where the person and later commands reach a port. */
export function toAddress(port: number): string {
  return `http://127.0.0.1:${port}`
}
