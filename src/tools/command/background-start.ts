import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import type { ToolContext, ToolOutput } from '../../core/tool.ts'
import { environmentFor } from './environment.ts'
import { findHidden } from './hidden-paths.ts'
import type { CommandParts } from './parts.ts'

/** A background command that nobody stops ends by itself after this time. */
const LIFETIME_MS = 8 * 3600_000

export interface BackgroundRequest {
  readonly command: string
  readonly env: Readonly<Record<string, string>>
  readonly preview: boolean
}

/** Starts a command that goes on when Kogu exits. It changes the workspace directly: nothing of that is recorded. */
export async function startBackground(
  parts: CommandParts,
  request: BackgroundRequest,
  context: ToolContext,
): Promise<ToolOutput> {
  const { permit, workspace } = context
  if (permit.command === undefined)
    throw new ToolError('forbidden', 'The command was not judged, so it does not run.')
  if (parts.sandbox === null) {
    throw new ToolError('failed', `Background commands need the sandbox: ${parts.noSandboxReason}`)
  }
  if (request.preview) throw new ToolError('invalid_input', 'A background command has no preview.')
  const id = randomUUID().slice(0, 8)
  const temporary = join(parts.places.temporary, `background-${id}`)
  mkdirSync(temporary, { recursive: true, mode: 0o700 })
  const call = { id: context.callId, run: context.run, additions: request.env }
  await parts.background().start({
    id,
    file: '/bin/bash',
    args: ['--norc', '--noprofile', '-c', request.command],
    title: request.command,
    lifetimeMs: LIFETIME_MS,
    profile: {
      writable: permit.command.plan === null ? [...permit.writeScope, ...parts.caches] : [],
      readable: [workspace],
      hidden: [...(await findHidden(permit, workspace)), ...parts.places.own],
      protected: PROTECTED.map(name => join(workspace, name)),
      network: 'none',
      unixSockets: true,
      env: environmentFor(parts, permit.command, call),
      privateTmp: temporary,
      cwd: permit.command.cwd,
      limits: parts.limits,
    },
  })
  return {
    text: `Started in the background as ${id}. Read its output with command_output, end it with command_stop.\n[What it changes is not recorded and cannot be undone; it has no network]`,
    data: { id, command: request.command, running: true, lifetime_ms: LIFETIME_MS },
    label: { origin: 'command', trusted: true },
  }
}

// Without a layer nothing is checked afterwards, so these cannot be written in the first place.
const PROTECTED = [
  '.kogu',
  'kogu.toml',
  '.git/hooks',
  '.git/config',
  '.vscode',
  '.idea',
  '.claude',
  '.mcp.json',
  '.envrc',
]
