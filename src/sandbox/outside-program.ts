import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  statSync,
} from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { ToolError } from '../core/errors.ts'
import { isInside } from '../core/real-path.ts'

// Programs that the configuration makes Kogu run outside the walls, with the person's rights: hooks, and whatever else a
// file may name. An agent that can write such a program, or something it loads, has those rights too. A hash of the
// program would not help: `mask.py` imports the `json.py` beside it, `node server.js` loads `node_modules`. So a program
// runs only when nothing on the way to it lies where an agent can write, and it gets no working folder, PATH or other
// variable that leads there.

export interface OutsideContext {
  /** Where agents can write: the workspace, scratch folders, caches of commands. Absolute. */
  readonly writable: readonly string[]
  /** Relative names in a command are meant from here. */
  readonly workspace: string
  /** Named in the refusal: a folder where such programs are safe. */
  readonly safePlace: string
  readonly env: Readonly<Record<string, string>>
}

export interface OutsideProgram {
  readonly file: string
  readonly args: readonly string[]
  /** Not the workspace: `python3 -c`, `node -e`, `make` and others load what lies in their working folder. */
  readonly cwd: '/'
  readonly env: Readonly<Record<string, string>>
}

/** For every program that the configuration names and that runs with the person's rights. */
export function outsideContext(
  workspace: string,
  machine: {
    readonly directories: { readonly state: string; readonly config: string }
    readonly variables: Readonly<Record<string, string>>
  },
): OutsideContext {
  const { directories, variables } = machine
  return {
    workspace,
    // The last holds the caches that commands of all workspaces write.
    writable: [workspace, '/tmp', '/var/tmp', join(directories.state, 'workspaces')],
    safePlace: join(directories.config, 'programs'),
    env: variables,
  }
}

/** Throws when an agent could have written a part of what would run. Looked at each time: links may change. */
export function prepareOutside(command: readonly string[], context: OutsideContext): OutsideProgram {
  const [program = '', ...args] = command
  const env = withoutWritable(context)
  const file = findOutside(program, env.PATH ?? '', context)
  const found = writablePart(file, args, context)
  if (found !== undefined) throw refusal(program, found.path, found.place, context)
  return { file, args, cwd: '/', env }
}

/** The first part of what would run that lies where an agent can write. */
export function writablePart(
  file: string,
  args: readonly string[],
  context: OutsideContext,
): { readonly path: string; readonly place: string } | undefined {
  for (const path of [file, ...interpreterOf(file, context), ...namedBy(args, context)]) {
    const place = writablePlaceOn(path, context)
    if (place !== undefined) return { path, place }
  }
  return undefined
}

/** A file among words that an agent could have written. */
export function writableFile(words: readonly string[], context: OutsideContext): string | undefined {
  const paths = words
    .flatMap(word => [word, ...word.split('=').slice(1)])
    .map(word => resolve(context.workspace, word))
  return paths.find(
    path => statSync(path, { throwIfNoEntry: false })?.isFile() === true && isWritable(path, context),
  )
}

/** Whether an agent of this workspace can write there. */
export function isWritableHere(folder: string, { workspace, writable }: OutsideContext): boolean {
  return (
    placeOn(resolve(workspace, folder), next => writable.find(place => isInside(next, place))) !== undefined
  )
}

/** Whether any agent can write there. */
export function isWritable(folder: string, context: OutsideContext): boolean {
  return writablePlaceOn(resolve(context.workspace, folder), context) !== undefined
}

function refusal(program: string, path: string, place: string, { safePlace }: OutsideContext): ToolError {
  const what = path.endsWith(`/${program.replace(/^\.\//, '')}`) ? 'It' : path
  return new ToolError(
    'forbidden',
    `'${program}' does not run outside the sandbox: ${what} lies in ${place}, where an agent can write.`,
    {
      hint: `Move the program and everything it loads to a folder that no agent can write, such as ${safePlace}, and name it by its full path.`,
    },
  )
}

function findOutside(program: string, path: string, { workspace }: OutsideContext): string {
  if (program.includes('/')) return resolve(workspace, program)
  for (const folder of path.split(delimiter)) {
    const file = join(folder, program)
    try {
      if (!isAbsolute(folder)) continue
      accessSync(file, constants.X_OK)
      return file
    } catch {
      // Not in this folder.
    }
  }
  throw new ToolError('not_found', `The program '${program}' was not found.`)
}

/** What `#!` names. `env` looks in PATH, which leads to no writable place. */
function interpreterOf(file: string, context: OutsideContext): string[] {
  try {
    const descriptor = openSync(file, 'r')
    try {
      const start = Buffer.alloc(256)
      const text = start.toString('utf8', 0, readSync(descriptor, start))
      // All of the line: `env -S` takes several words.
      return pathsIn(/^#!(.*)/.exec(text)?.[1] ?? '', context)
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // Not there, or not to be read: whoever starts it says so.
    return []
  }
}

/** Paths among the arguments, also inside a text such as that of `sh -c`. */
function namedBy(args: readonly string[], context: OutsideContext): string[] {
  const { workspace } = context
  const relative = args.map(word => resolve(workspace, word)).filter(path => existsSync(path))
  return [
    ...relative.filter(path => path !== workspace || args.includes('.')),
    ...args.flatMap(word => pathsIn(word, context)),
  ]
}

/**
 * Absolute paths in a text, as a shell would see them. A writable folder whose name holds a blank or a quote would be
 * cut into pieces that nobody recognises, so it is looked for as it is written, too.
 */
function pathsIn(text: string, { env, writable }: OutsideContext): string[] {
  const expanded = text
    .replace(/(?<![\w/.-])~(?=\/|$)/g, env.HOME ?? '~')
    .replace(/\$(?:\{(\w+)\}|(\w+))/g, (whole, braced, plain) => env[braced ?? plain] ?? whole)
  const pieces = expanded.split(SEPARATORS).filter(piece => /^\/+[^/]/.test(piece))
  const bare = expanded.replaceAll('\\', '')
  return [...pieces, ...writable.filter(folder => SEPARATORS.test(folder) && bare.includes(folder))]
}

const SEPARATORS = /[\s:;,=|&()<>'"`${}]+/

/** Every variable that names a writable place goes, be it PYTHONPATH, NODE_OPTIONS or one that nobody thought of. */
function withoutWritable(context: OutsideContext): Record<string, string> {
  const { env } = context
  const isSafe = (path: string): boolean => writablePlaceOn(path, context) === undefined
  const folders = (env.PATH ?? '').split(delimiter).filter(folder => isAbsolute(folder) && isSafe(folder))
  const others = Object.entries(env).filter(
    ([name, value]) => name !== 'PATH' && pathsIn(value, context).every(isSafe),
  )
  return { ...Object.fromEntries(others), PATH: folders.join(delimiter) }
}

/** The writable place that a path goes through, of this workspace or of another one. */
function writablePlaceOn(path: string, { writable, env }: OutsideContext): string | undefined {
  return placeOn(path, next => {
    const place = writable.find(folder => isInside(next, folder))
    return place ?? (isOtherWorkspace(next, env.HOME ?? '/') ? next : undefined)
  })
}

/** Its agents write there. A stray `~/.kogu` makes no workspace of the home folder: see workspace-root.ts. */
function isOtherWorkspace(folder: string, home: string): boolean {
  return !isInside(home, folder) && existsSync(join(folder, '.kogu'))
}

const MOST_LINKS = 40

/**
 * The first answer about a name on the way: each is looked up as the kernel does, because a link that lies in a writable
 * place can lead elsewhere tomorrow.
 */
function placeOn(path: string, find: (folder: string) => string | undefined): string | undefined {
  const waiting = path.split('/').filter(name => name !== '' && name !== '.')
  let at = '/'
  for (let links = 0; waiting.length > 0; ) {
    const name = waiting.shift() ?? ''
    const next = resolve(at, name)
    const place = find(next)
    if (place !== undefined) return place
    const stat = lstatSync(next, { throwIfNoEntry: false })
    if (stat?.isSymbolicLink() !== true) {
      at = next
      continue
    }
    links += 1
    if (links > MOST_LINKS) return at
    const target = readlinkSync(next)
    if (target.startsWith('/')) at = '/'
    waiting.unshift(...target.split('/').filter(part => part !== '' && part !== '.'))
  }
  return undefined
}
