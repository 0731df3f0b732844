import { hash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { namesIn } from '../../core/names-in.ts'
import { type Declaration, readDeclaration, TOOL_NAME } from './declaration.ts'

export interface Script {
  readonly path: string
  readonly name: string
  readonly declaration: Declaration
  /** Of the script and its declaration: what a person trusts is this content. */
  readonly sha256: string
  /** The program that runs it, with its arguments; empty for a binary. */
  readonly interpreter: readonly string[]
}

const LARGEST_SCRIPT = 1024 * 1024
const DECLARATIONS = ['.toml', '.json']

export interface ScriptMachine {
  /** Runs JavaScript and TypeScript. */
  readonly node: string
  /** Whether agents can write there: nothing in such a place runs what a person has trusted. */
  isWritable(path: string): boolean
}

/** Every script of a folder that declares itself. A file that cannot be used is a problem and hides no other. */
export function findScripts(
  folder: string,
  machine: ScriptMachine,
): { scripts: Script[]; problems: string[] } {
  const scripts: Script[] = []
  const problems: string[] = []
  for (const name of namesIn(folder).sort()) {
    if (name.startsWith('.') || DECLARATIONS.includes(extname(name))) continue
    try {
      const script = readScript(join(folder, name), machine)
      if (script !== undefined) scripts.push(script)
    } catch (error) {
      problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return { scripts, problems }
}

/** The content with this hash; undefined when the script is gone or another by now. */
export function readTrusted({ path, sha256 }: Pick<Script, 'path' | 'sha256'>): TrustedContent | undefined {
  const file = readSmall(path)
  const declaration = declarationBeside(path)?.text
  if (file === undefined || digest(file.bytes, declaration) !== sha256) return undefined
  return { bytes: file.bytes, declaration }
}

interface TrustedContent {
  readonly bytes: Uint8Array
  /** What lies beside the script, if its declaration does. */
  readonly declaration: string | undefined
}

function readScript(path: string, machine: ScriptMachine): Script | undefined {
  const file = readSmall(path)
  if (file === undefined) return undefined
  const beside = declarationBeside(path)
  const declaration =
    beside === undefined
      ? readDeclaration(file.bytes.toString('utf8'), 'script')
      : readDeclaration(beside.text, beside.kind)
  if (declaration === undefined) return undefined
  const ofExtension = interpreterOf(path, machine)
  if (ofExtension.length === 0 && !file.isExecutable)
    throw new Error('it is not executable and has an unknown file extension')
  const interpreter = ofExtension.length > 0 ? ofExtension : namedByFirstLine(file.bytes, machine)
  const name = declaration.name ?? basename(path, extname(path))
  // It stands in commands that people copy: a file may be called `x; rm -r y.py`.
  if (!TOOL_NAME.test(name)) throw new Error('its file name cannot be the name of a tool; declare a name')
  return { path, name, declaration, interpreter, sha256: digest(file.bytes, beside?.text) }
}

/**
 * The words of `#!`. What is trusted is the script: a program or an argument that leads to where agents write (`#!bin/run`,
 * `#!/bin/sh lib.sh`, `#!/usr/bin/env -S node -r./x`) would run something else in its place.
 */
function namedByFirstLine(bytes: Buffer, { isWritable }: ScriptMachine): readonly string[] {
  const line = /^#!([^\n]*)/.exec(bytes.toString('latin1', 0, 512))?.[1]
  if (line === undefined) return []
  const words = line.trim().split(/\s+/)
  const isEnv = words[0] === '/usr/bin/env' || words[0] === '/bin/env'
  const [program = '', ...args] = isEnv ? words.slice(words[1] === '-S' ? 2 : 1) : words
  // By `env`, a name that is looked up in folders where no agent writes.
  const isSafe = isEnv
    ? /^\w[\w.+-]*$/.test(program)
    : resolve(program) === program && !/^\/(?:proc|dev)\//.test(program) && !isWritable(program)
  const rest = /^(?:deno|uv)$/.test(program) && args[0] === 'run' ? args.slice(1) : args
  // The last letter may take a value: that is the script itself.
  const isPlain = (word: string, index: number): boolean =>
    FLAG.test(word) || (index === rest.length - 1 && /^-[A-Za-z]$/.test(word))
  if (isSafe && rest.every(isPlain)) return [program, ...args]
  throw new Error(
    'its #! line has to name a program by its full path, where no agent can write, or by /usr/bin/env and a plain name; after it only flags without a value can stand',
  )
}

/** They take no file, module or code in any common interpreter. */
const FLAG = /^(?:-[BEensSuwx]+|--(?:allow-[a-z]+|no-[a-z]+|quiet|script))$/

function interpreterOf(path: string, { node }: ScriptMachine): readonly string[] {
  switch (extname(path)) {
    case '.py':
      return ['python3']
    case '.sh':
      return ['bash']
    case '.js':
    case '.mjs':
    case '.ts':
      return [node]
    default:
      return []
  }
}

function declarationBeside(path: string): { text: string; kind: 'toml' | 'json' } | undefined {
  const stem = path.slice(0, path.length - extname(path).length)
  for (const kind of ['toml', 'json'] as const) {
    const file = readSmall(`${stem}.${kind}`)
    if (file !== undefined) return { text: file.bytes.toString('utf8'), kind }
  }
  return undefined
}

/** A regular file of reasonable size. Symlinks are not followed: what is trusted is what lies here. */
function readSmall(path: string): { bytes: Buffer; isExecutable: boolean } | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.size > LARGEST_SCRIPT) return undefined
    return { bytes: readFileSync(descriptor), isExecutable: (stats.mode & 0o111) !== 0 }
  } catch {
    // Not there, a symlink, or not ours to read.
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function digest(bytes: Buffer, declaration = ''): string {
  return hash('sha256', Buffer.concat([bytes, Buffer.from(`\0${declaration}`)]))
}
