import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { isSystemError, ToolError } from '../core/errors.ts'
import { makeFolders } from '../core/make-folders.ts'
import { setInText, unsetInText } from './change-text.ts'
import { checkSource } from './check-source.ts'
import { ConfigError } from './config-error.ts'
import { keyEntry } from './key-table.ts'
import { fromFlag } from './overrides.ts'
import { splitKey } from './positions.ts'
import { withoutForeignKeys } from './project-keys.ts'
import { readText, type Source, toSource } from './read-source.ts'
import type { Layer } from './rule-schema.ts'
import { valueAt } from './tables.ts'

export interface ChangedFile {
  readonly path: string
  readonly layer: Layer
}

/** Sets one key of a file. The value is written as `-c key=value` reads it; returns what it is. */
export function setInFile(file: ChangedFile, key: string, value: string): unknown {
  const given = fromFlag(`${key}=${value}`)
  const checked = checkSource(given, true)
  if (!checked.ok) throw checked.errors[0] ?? new ConfigError('This is not a setting.', { file: file.path })
  const path = requirePath(key)
  if (keyEntry(path)?.reader === null)
    throw new ToolError('invalid_input', `'${key}' has no effect: this version of Kogu does not read it.`)
  refuseForeign(given, file)
  const parsed = valueAt(given.data, path)
  const text = readText(file.path) ?? ''
  write(file, setInText(text, path, parsed) ?? refuseToRewrite(file, key))
  return parsed
}

export function unsetInFile(file: ChangedFile, key: string): void {
  const path = requirePath(key)
  const text = readText(file.path) ?? ''
  if (!isSetInFile(file, path))
    throw new ToolError('not_found', `'${key}' is not set in ${file.path}.`, {
      hint: 'See: kogu config list',
    })
  write(file, unsetInText(text, path) ?? refuseToRewrite(file, key))
}

/** Writes tables to the end of a file. */
export function appendToFile(file: ChangedFile, tables: string): void {
  const text = readText(file.path) ?? ''
  const gap = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n'
  write(file, `${text}${gap}${tables}`)
}

export function isSetInFile({ path, layer }: ChangedFile, key: readonly string[]): boolean {
  return valueAt(toSource(path, layer, readText(path) ?? '').data, key) !== undefined
}

function requirePath(key: string): string[] {
  const path = splitKey(key)
  if (path === undefined) throw new ToolError('invalid_input', `'${key}' is not the name of a setting.`)
  return path
}

function refuseForeign(given: Source, { layer, path }: ChangedFile): void {
  if (layer !== 'project' && layer !== 'local') return
  const [warning] = withoutForeignKeys({ ...given, layer, file: path }, given.data).warnings
  if (warning !== undefined) throw new ToolError('invalid_input', warning.message)
}

function refuseToRewrite({ path }: ChangedFile, key: string): never {
  throw new ToolError(
    'conflict',
    `'${key}' cannot be changed in ${path} without rewriting what is around it.`,
    {
      hint: 'Change it by hand: kogu config edit',
    },
  )
}

/** Nothing is written that Kogu could not read again: a broken file would stop every command. */
function write({ path, layer }: ChangedFile, text: string): void {
  const checked = checkSource(toSource(path, layer, text))
  if (!checked.ok) throw checked.errors[0] ?? new ConfigError('The file would be invalid.', { file: path })
  makeFolders(dirname(path))
  replaceFile(realPath(path), text)
}

/** As a whole or not at all, with the mode it had. */
function replaceFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.tmp`
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  if (mode !== undefined) chmodSync(draft, mode & 0o777)
  renameSync(draft, path)
}

/** People keep their settings in a repository and link to them: the link stays. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return path
    throw error
  }
}
