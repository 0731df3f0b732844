import { basename } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import type { McpServerConfig } from './server-config.ts'

/** A package that a command would fetch with every start. */
export interface FetchedPackage {
  readonly from: 'npm' | 'python'
  /** As npm or pip take it. */
  readonly spec: string
  /** The program of a Python package; a package of npm names its own. */
  readonly program?: string
  readonly rest: readonly string[]
}

/** Undefined when the command starts what is already there. Throws for a form whose package cannot be told. */
export function fetchedPackage({
  command = [],
}: Pick<McpServerConfig, 'command'>): FetchedPackage | undefined {
  const words = [basename(command[0] ?? ''), ...command.slice(1)]
  const line = words.join(' ')
  const [other] = /^((pnpm|yarn) dlx|npm (exec|x)|bun x)(?= |$)/.exec(line) ?? []
  if (other !== undefined) {
    throw new ToolError(
      'failed',
      `${other} downloads the program at every start, and it can be a different one each time.`,
      { hint: 'Use npx -y PACKAGE[@VERSION] ARGUMENTS: Kogu installs it once, when you trust it.' },
    )
  }
  if (/^(npx|bunx|pnpx)( |$)/.test(line)) return fromNpm(words.slice(1), command)
  const [python] = /^(uvx|uv tool run|pipx run)(?= |$)/.exec(line) ?? []
  return python === undefined ? undefined : fromPython(words.slice(python.split(' ').length), command)
}

function fromNpm(words: readonly string[], command: readonly string[]): FetchedPackage {
  const at = words.findIndex(word => !/^(-y|--yes|-q|--quiet)$/.test(word))
  const spec = words[at] ?? ''
  if (at === -1 || spec.startsWith('-')) throw notUnderstood(command, '[-y] PACKAGE[@VERSION] ARGUMENTS')
  return { from: 'npm', spec, rest: words.slice(at + 1) }
}

/** `uvx ruff@0.5`, `uvx --from 'mcp-server[cli]==1.2' mcp-server`. */
function fromPython(words: readonly string[], command: readonly string[]): FetchedPackage {
  const given = words.filter((word, at) => at > 0 || !/^(-q|--quiet)$/.test(word))
  const [first = '', second = ''] = given
  const isNamedApart = /^--(from|spec)$/.test(first)
  const name = (isNamedApart ? given[2] : first) ?? ''
  const [, bare = '', version = 'latest'] = /^([A-Za-z0-9][\w.-]*)(?:@([\w.+!-]+))?$/.exec(name) ?? []
  const isWrong = bare === '' || (isNamedApart && (name !== bare || !BUILT_PACKAGE.test(second)))
  if (isWrong) throw notUnderstood(command, '[--from PACKAGE] PROGRAM[@VERSION] ARGUMENTS')
  const spec = isNamedApart ? second : version === 'latest' ? bare : `${bare}==${version}`
  return { from: 'python', spec, program: bare, rest: given.slice(isNamedApart ? 3 : 1) }
}

/** A name with a version, or a wheel. Folders and repositories are built where they are installed, which runs their code. */
const BUILT_PACKAGE = /^(?:[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])?(?:[=<>!~]=?=?[\w.,*<>=!~+-]+)?|[^-].*\.whl)$/

function notUnderstood(command: readonly string[], form: string): ToolError {
  const name = basename(command[0] ?? '')
  return new ToolError('failed', `This form of ${name} is not understood: ${command.join(' ')}`, {
    hint: `Write ${name} ${form}.`,
  })
}
