import { isAbsolute } from 'node:path'
import {
  isWritable,
  isWritableHere,
  type OutsideContext,
  writableFile,
  writablePart,
} from '../../sandbox/outside-program.ts'
import { fetchedPackage } from './fetched-package.ts'
import { LOADS_CODE, type McpServerConfig } from './server-config.ts'

interface ServerProgram {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
}

/**
 * How a server is started that can do more than an agent: one without a sandbox, or one that gets secrets, contacts others
 * or changes folders elsewhere. An agent that can write its program, or what it loads, would have all of that too. So it
 * runs from where no agent writes, and not in the workspace: `python3 -m server` loads what lies in its working folder.
 */
export function guardProgram(
  server: McpServerConfig,
  program: ServerProgram,
  outside: OutsideContext,
): { readonly cwd: string } {
  const gets = whatItGets(server, outside)
  const { file, args, cwd } = program
  if (gets === undefined) return { cwd }
  const refuse = (path: string): never => {
    throw new Error(
      `it ${gets}, and ${path} lies where an agent can write. Move the program and everything it loads to a folder that no agent can write, such as ${outside.safePlace}, and name it by its full path`,
    )
  }
  const loaded = loadedByVariable(server, outside)
  if (loaded !== undefined) return refuse(loaded)
  if (fetchedPackage(server) !== undefined) {
    // The program is the copy that was installed; folders are what it works with. `npx tsx server.ts` runs another program.
    const path = writableFile(args, outside)
    return path === undefined ? { cwd } : refuse(path)
  }
  const part = writablePart(file, args, outside)
  if (part !== undefined) return refuse(part.path)
  if (server.cwd === undefined) return { cwd: '/' }
  return isWritable(cwd, outside) ? refuse(cwd) : { cwd }
}

/**
 * Of a variable that makes programs load code: what is neither an option, a number nor a path where no agent writes. A bare
 * name is looked for in the working folder by some of them.
 */
function loadedByVariable({ env }: McpServerConfig, outside: OutsideContext): string | undefined {
  for (const [name, value] of Object.entries(env)) {
    if (typeof value !== 'string' || !LOADS_CODE.test(name)) continue
    const isSafe = (piece: string): boolean =>
      /^(?:--?[\w-]+|\d*)$/.test(piece) || (isAbsolute(piece) && !isWritable(piece, outside))
    const found = value.split(/[\s:;,=]+/).find(piece => !isSafe(piece))
    if (found !== undefined) return `what ${name} names, ${JSON.stringify(found)},`
  }
  return undefined
}

/** What an agent in the sandbox does not have, as words. */
function whatItGets(server: McpServerConfig, outside: OutsideContext): string | undefined {
  if (!server.sandbox) return 'runs without a sandbox'
  if (Object.values(server.env).some(value => typeof value !== 'string')) return 'gets a secret'
  if (server.hosts.length > 0) return `may contact ${server.hosts.join(', ')}`
  const elsewhere = server.write.filter(folder => folder.startsWith('~') || !isWritableHere(folder, outside))
  return elsewhere.length === 0 ? undefined : `may change ${elsewhere.join(', ')}`
}
