import { type AnyNode, type Comment, type Program, parse, tokTypes } from 'acorn'
import { stripTypes } from './strip-types.ts'

export interface ParsedCode {
  readonly program: Program
  /** JavaScript: what the tree was read from. */
  readonly javascript: string
  readonly comments: readonly Comment[]
}

/** The code cannot be read; the message says what and where. */
export class CodeError extends Error {
  override name = 'CodeError'
}

const MOST_CODE = 256 * 1024

/**
 * Reads JavaScript, or TypeScript after its types were taken out, in which every line keeps its number (enums and
 * namespaces, which make code, move it). Code that nothing can be said about for certain is refused.
 */
export async function parseCode(code: string): Promise<ParsedCode> {
  if (code.length > MOST_CODE) throw new CodeError(`The code is longer than ${MOST_CODE} characters.`)
  const first = attempt(() => parseJavaScript(code))
  if (!(first instanceof Error)) return first
  if (first instanceof CodeError) throw first
  const versions = await stripTypes(code).catch((error: Error) => {
    throw new CodeError(error.message, { cause: error })
  })
  let problem = first.message
  for (const { mode, javascript, problem: unread } of versions) {
    const parsed = javascript === undefined ? new Error(unread) : attempt(() => parseJavaScript(javascript))
    if (parsed instanceof CodeError) throw parsed
    if (parsed instanceof Error) {
      if (mode === 'strip') problem = `${first.message}; read as TypeScript: ${parsed.message}`
      continue
    }
    if (hasLostHtmlComment(code, parsed.javascript, mode)) throw new CodeError(NO_HTML_COMMENT)
    return parsed
  }
  throw new CodeError(problem, { cause: first })
}

const NO_HTML_COMMENT = '`<!--` and `-->` cannot be used: write spaces between.'

/**
 * The compiler takes `<!--` for a comment and leaves it out: people would read other code than what runs. Where it writes the
 * code anew it may also say a text twice (`enum A { '-->' }`), so that nothing can be counted.
 */
function hasLostHtmlComment(code: string, javascript: string, mode: 'strip' | 'transform'): boolean {
  const count = (text: string): number => text.split(/<!--|-->/).length - 1
  return mode === 'strip' ? count(javascript) < count(code) : count(code) > 0
}

export function parseJavaScript(javascript: string): ParsedCode {
  const comments: Comment[] = []
  const program = parse(javascript, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
    onComment: comments,
    onToken: ({ type, start }) => {
      if (type !== tokTypes.template) refuseHtmlComment(javascript, start)
    },
    allowAwaitOutsideFunction: false,
    allowHashBang: false,
  })
  return { program, javascript, comments }
}

/** Operators here, the start of a comment where the code runs as a script: what is read must be what runs. */
function refuseHtmlComment(javascript: string, at: number): void {
  if (javascript.startsWith('<!--', at)) throw new CodeError(NO_HTML_COMMENT)
}

function attempt<T>(work: () => T): T | Error {
  try {
    return work()
  } catch (error) {
    // A tree deeper than the stack is an error of its own kind, and as unreadable.
    return error instanceof Error ? error : new Error(String(error))
  }
}

/**
 * The script that an isolate runs: the code without `export`, in a function that returns `execute`. Only what parsed
 * as a whole program gets here, so nothing in it can close that function.
 */
export function toScript({ program, javascript }: ParsedCode): string {
  const edits: { start: number; end: number; text: string }[] = []
  let value = "typeof execute === 'undefined' ? undefined : execute"
  let own = 'defaultExport'
  while (javascript.includes(own)) own += '_'
  for (const node of program.body) {
    if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') throw noModules(node)
    if (node.type === 'ExportNamedDeclaration') {
      if (node.source) throw noModules(node)
      edits.push({ start: node.start, end: node.declaration?.start ?? node.end, text: '' })
    }
    if (node.type === 'ExportDefaultDeclaration') {
      edits.push({ start: node.start, end: node.declaration.start, text: `const ${own} = ` })
      value = `typeof execute === 'undefined' ? ${own} : execute`
    }
  }
  const script = edits.reduceRight(
    (text, { start, end, text: inserted }) => `${text.slice(0, start)}${inserted}${text.slice(end)}`,
    javascript,
  )
  return `(function () { 'use strict'\n${script}\n;return ${value} })()`
}

function noModules(node: AnyNode): CodeError {
  return new CodeError(
    `No module can be imported (line ${node.loc?.start.line}): a tool is one file of code.`,
  )
}
