import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import { isSystemError } from '../core/errors.ts'
import { ConfigError, type Place } from './config-error.ts'
import { type KeyLocator, type KeyPath, locateKeys } from './positions.ts'
import type { Layer } from './rule-schema.ts'

export type Table = Record<string, unknown>

/** One place that settings come from, as written. */
export interface Source {
  readonly layer: Layer
  /** Path of the file, `--set limits.max_turns=3`, or the name of the variable. */
  readonly file: string
  readonly data: Table
  place(path: KeyPath, what?: 'key' | 'value'): Place
}

/** A configuration is read by people; what is larger is something else. */
const LARGEST_FILE = 256 * 1024

/** Undefined when there is no such file. Anything else that cannot be used is an error: a lost file could hold a deny. */
export function readSource(file: string, layer: Layer): { source: Source; stats: Stats } | undefined {
  const opened = readRegularFile(file)
  if (opened === undefined) return undefined
  const { text, stats } = opened
  return { source: toSource(file, layer, text), stats }
}

export function toSource(file: string, layer: Layer, text: string): Source {
  const data = parseToml(file, text)
  const located: { keys?: KeyLocator } = {}
  return {
    layer,
    file,
    data,
    place(path, what = 'key') {
      located.keys ??= locateKeys(text)
      const position = located.keys(path)
      return { file, text, position: what === 'key' ? position : position?.value }
    },
  }
}

/** Undefined when there is no such file. */
export function readText(file: string): string | undefined {
  return readRegularFile(file)?.text
}

function readRegularFile(file: string): { text: string; stats: Stats } | undefined {
  let descriptor: number | undefined
  try {
    // Without O_NONBLOCK a named pipe in a cloned repository would make every command hang.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw new ConfigError('This is not a regular file.', { file })
    if (stats.size > LARGEST_FILE) throw new ConfigError('This file is larger than 256 KiB.', { file })
    return { text: decode(file, readFileSync(descriptor)), stats }
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
    if (error instanceof ConfigError) throw error
    const detail = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`This file cannot be read: ${detail}`, { file }, { cause: error })
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new ConfigError('This file is not UTF-8 text.', { file }, { cause })
  }
}

function parseToml(file: string, text: string): Table {
  try {
    // `__proto__` and `constructor` are refused as keys: no setting has such a name, and objects merged later do.
    return parse(text, { unsafeKeyBehaviour: 'throw', maxDepth: 32 })
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause
    const message = cause.message.split('\n')[0]?.replace('Invalid TOML document: ', '') ?? ''
    throw new ConfigError(`This is not valid TOML: ${message}.`, { file, text, position: cause }, { cause })
  }
}
