import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isSystemError } from '../core/errors.ts'
import { waitForLock } from '../core/lock-file.ts'
import { makeFolders } from '../core/make-folders.ts'
import { namesIn } from '../core/names-in.ts'
import { writeWhole } from '../core/write-whole.ts'
import type { McpRecord, McpRecords } from '../providers/mcp/record.ts'

/** What is known of each MCP server, one file each in the state folder (0600), which no tool can write. */
export function openMcpRecords(stateDirectory: string): McpRecords {
  const pathOf = (key: string): string => join(stateDirectory, 'mcp', `${key}.json`)
  return {
    read: key => read(pathOf(key)),
    async update(key, edit) {
      const path = pathOf(key)
      makeFolders(dirname(path))
      const lock = await waitForLock(`${path}.lock`, 5000)
      if (lock === undefined) throw new Error(`Another process holds ${path}.lock.`)
      try {
        const record = edit(read(path))
        if (record === undefined) return rmSync(path, { force: true })
        writeWhole(path, `${JSON.stringify({ format: 1, ...record }, null, 2)}\n`)
      } finally {
        lock.release()
      }
    },
  }
}

/**
 * Takes back every trust in servers of this name. In a project of which a file says something about the server, too, it was
 * trusted by itself.
 */
export async function forgetMcpServer(stateDirectory: string, name: string): Promise<void> {
  const records = openMcpRecords(stateDirectory)
  const projects = namesIn(join(stateDirectory, 'mcp')).filter(each => /^[0-9a-f]{16}$/.test(each))
  for (const key of [name, ...projects.map(project => `${project}/${name}`)])
    if (records.read(key) !== undefined) await records.update(key, () => undefined)
}

/** A file that cannot be read counts as none: then the server has to be trusted again. */
function read(path: string): McpRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isRecord(value) ? value : undefined
  } catch (error) {
    if (isSystemError(error) && error.code !== 'ENOENT') throw error
    return undefined
  }
}

function isRecord(value: unknown): value is McpRecord {
  if (typeof value !== 'object' || value === null) return false
  const { format, config, pins, held } = value as Partial<McpRecord> & { format?: unknown }
  return format === 1 && typeof config === 'string' && isTable(pins) && isTable(held)
}

function isTable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
