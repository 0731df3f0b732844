import * as z from 'zod'
import { ToolError } from '../../core/errors.ts'
import { PROXY_PORT } from '../../sandbox/network.ts'

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

/** Where the person and later commands reach a port. */
export function toAddress(port: number): string {
  return `http://127.0.0.1:${port}`
}
