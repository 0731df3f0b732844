import { hash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { namesIn } from '../../core/names-in.ts'
import { type Declaration, readDeclaration, TOOL_NAME } from './declaration.ts'

export interface Script {
  readonly path: string
  readonly name: string
  readonly declaration: Declaration
  /** Of the script and its declaration: what a person trusts is this content. */
  readonly sha256: string
  /** The program that runs it, with its arguments; empty for a file that runs itself. */
  readonly interpreter: readonly string[]
}

const LARGEST_SCRIPT = 1024 * 1024
const DECLARATIONS = ['.toml', '.json']

/** Every script of a folder that declares itself. A file that cannot be used is a problem and hides no other. */
export function findScripts(folder: string, node: string): { scripts: Script[]; problems: string[] } {
  const scripts: Script[] = []
  const problems: string[] = []
  for (const name of namesIn(folder).sort()) {
    if (name.startsWith('.') || DECLARATIONS.includes(extname(name))) continue
    try {
      const script = readScript(join(folder, name), node)
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

function readScript(path: string, node: string): Script | undefined {
  const file = readSmall(path)
  if (file === undefined) return undefined
  const beside = declarationBeside(path)
  const declaration =
    beside === undefined
      ? readDeclaration(file.bytes.toString('utf8'), 'script')
      : readDeclaration(beside.text, beside.kind)
  if (declaration === undefined) return undefined
  const interpreter = interpreterOf(path, node)
  if (interpreter.length === 0 && !file.isExecutable)
    throw new Error('it is not executable and has an unknown file extension')
  const name = declaration.name ?? basename(path, extname(path))
  // It stands in commands that people copy: a file may be called `x; rm -r y.py`.
  if (!TOOL_NAME.test(name)) throw new Error('its file name cannot be the name of a tool; declare a name')
  return { path, name, declaration, interpreter, sha256: digest(file.bytes, beside?.text) }
}

function interpreterOf(path: string, node: string): readonly string[] {
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
