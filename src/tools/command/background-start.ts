import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import type { ToolContext, ToolOutput } from '../../core/tool.ts'
import { toAddress } from './background-ports.ts'
import { foldersToWrite } from './background-write.ts'
import { cachesFor } from './caches.ts'
import { environmentFor } from './environment.ts'
import { findHidden } from './hidden-paths.ts'
import { ownerOf } from './kept-output.ts'
import { openFolders } from './open-folders.ts'
import type { CommandParts } from './parts.ts'
import { startOf } from './start-of.ts'

/** A background command that nobody stops ends by itself after this time. */
const LIFETIME_MS = 8 * 3600_000

export interface BackgroundRequest {
  readonly command: string
  readonly env: Readonly<Record<string, string>>
  readonly preview: boolean
  readonly ports: readonly number[]
  readonly stdin?: string | undefined
}

/**
 * Starts a command that goes on when Kogu exits. It cannot change the workspace but for folders that the configuration
 * opens: nobody would be there to check, record and bring over what it wrote, and a wall around each protected path does
 * not stop those that do not exist yet.
 */
export async function startBackground(
  parts: CommandParts,
  request: BackgroundRequest,
  context: ToolContext,
): Promise<ToolOutput> {
  const { permit, workspace } = context
  if (permit.command === undefined)
    throw new ToolError('forbidden', 'The command was never authorized, so it does not run.')
  if (parts.sandbox === null) {
    throw new ToolError('failed', `Background commands need the sandbox: ${parts.noSandboxReason}`)
  }
  if (request.preview) throw new ToolError('invalid_input', 'Background commands cannot be previewed.')
  if (request.stdin !== undefined) {
    throw new ToolError('invalid_input', 'Use command_input to send input to a background command.')
  }
  const folders = permit.command.plan === null ? foldersToWrite(parts, permit) : []
  const id = randomUUID().slice(0, 8)
  const temporary = join(parts.places.temporary, `background-${id}`)
  const call = { id: context.callId, run: context.run, additions: request.env }
  const hidden = [...(await findHidden(permit)), ...ownState(parts), ...parts.socketFolders]
  await parts.background().start({
    id,
    ...startOf(parts, { line: request.command }, permit.command),
    title: request.command,
    owner: ownerOf(context),
    lifetimeMs: LIFETIME_MS,
    ports: request.ports,
    profile: {
      writable: folders,
      replaced: permit.command.plan === null ? cachesFor(parts, { preview: false }) : [],
      ...openFolders(parts, permit.command, hidden),
      home: parts.home,
      hidden,
      protected: [],
      network: 'none',
      unixSockets: permit.command.plan === null,
      env: environmentFor(parts, permit.command, call),
      privateTmp: temporary,
      cwd: permit.command.cwd,
      limits: parts.limits,
    },
  })
  return {
    text: `Started in the background as ${id}. Read its output with command_output, end it with command_stop.${reachedAt(request.ports)}\n[${writes(folders, workspace)} It has no network.]`,
    data: {
      id,
      command: request.command,
      running: true,
      lifetime_ms: LIFETIME_MS,
      ports: request.ports,
      urls: request.ports.map(toAddress),
      unrecorded_folders: folders,
    },
    label: { origin: 'command', trusted: true },
  }
}

/**
 * All of Kogu's state, made before the command starts: a folder that appeared later would have no wall, and the command
 * is there for hours. Watchers would also follow every layer's link back to the workspace, without end.
 */
function ownState({ workspace, places }: CommandParts): string[] {
  for (const folder of places.own) mkdirSync(folder, { recursive: true, mode: 0o700 })
  return [join(workspace, '.kogu'), places.temporary, ...places.own]
}

function reachedAt(ports: readonly number[]): string {
  if (ports.length === 0) return ''
  return `\nWhile it runs and listens, it is reached at ${ports.map(toAddress).join(', ')}, on this machine and by later commands that were approved.`
}

function writes(folders: readonly string[], workspace: string): string {
  if (folders.length === 0) return READ_ONLY
  const names = folders.map(folder => relative(workspace, folder)).join(', ')
  return `It may write ${names}: what it changes there is not recorded and cannot be undone. The rest of the workspace is read-only for it. Its /tmp is writable.`
}

const READ_ONLY =
  'A background command cannot change the workspace; run it in the foreground to keep what it writes. Its /tmp is writable.'
