import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { identityOf } from '../../core/made-here.ts'
import { writeWhole } from '../../core/write-whole.ts'
import { createPrivateFolder } from '../walls/private-folder.ts'

// The sockets and named pipes of a supervisor lie in /tmp and not beside the workspace's other state. Every command sees
// all other workspaces, and a read-only mount keeps nobody from connecting to a socket or writing to a pipe: a command of
// one workspace could tell the supervisor of another to start programs behind walls of its choice, use a port that is
// not for it, or give a shell its input. /tmp is another one in every sandbox. The workspace's own state only says which
// folder it is.

const NOTE = 'supervisor.place'

/** For the supervisor, which has no TMPDIR: a new folder in /tmp that only the user can enter. */
export function createSupervisorPlace(): string {
  return createPrivateFolder('sandbox')
}

/** Said when the supervisor listens. */
export function announceSupervisor(stateFolder: string, place: string): void {
  writeWhole(join(stateFolder, NOTE), `${place}\n${identityOf(stateFolder)}`)
}

/**
 * Undefined when there is none. When a supervisor was killed, somebody else may have made a folder of the same name since,
 * and would hear what is to be started, with its variables; so would a folder that a note from a clone names.
 */
export function findSupervisorPlace(stateFolder: string): string | undefined {
  try {
    const [place = '', folder] = readFileSync(join(stateFolder, NOTE), 'utf8').split('\n')
    if (folder !== identityOf(stateFolder)) return undefined
    const { uid, mode } = lstatSync(place)
    return uid === process.getuid?.() && (mode & 0o170077) === 0o040000 ? place : undefined
  } catch {
    // No supervisor ran here yet, or it is gone.
    return undefined
  }
}

export function supervisorSocket(place: string): string {
  return join(place, 'socket')
}

/** The pipe that one command reads as its standard input. */
export function inputPlace(place: string, id: string): string {
  return join(place, `stdin-${id}`)
}

/** Where the sockets of one command's ports are. */
export function portsPlace(place: string, id: string): string {
  return join(place, `ports-${id}`)
}
