import { accessSync, constants, existsSync, mkdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

// Commands have a /tmp and a /var/tmp of their own. The project itself may have been cloned there, with its Node.

/** A folder that every command sees as it is. */
export function folderOutsideTmp(): string {
  const own = join(import.meta.dirname, '../../node_modules/.cache/kogu-tests')
  mkdirSync(own, { recursive: true })
  const found = [realpathSync(own), '/opt', '/srv', homedir()].find(
    path => !isTemporary(path) && isWritable(path),
  )
  if (found === undefined) throw new Error('These tests need a folder outside of /tmp that can be written.')
  return found
}

/** Some Node, new or old, that commands can start. */
export function visibleNode(): string {
  const found = [process.execPath, '/usr/local/bin/node', '/usr/bin/node'].find(
    path => !isTemporary(path) && existsSync(path),
  )
  if (found === undefined) throw new Error('These tests need a Node outside of /tmp.')
  return found
}

function isTemporary(path: string): boolean {
  return /^\/(var\/)?tmp(\/|$)/.test(path)
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}
