import { lstatSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import * as z from 'zod'
import { ToolError } from '../core/errors.ts'
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from '../core/tool.ts'
import { toolPath } from './file-path.ts'
import { formatContent } from './grep-content.ts'
import { asksForLines, formatCounts, formatFiles, type GrepResult, toResultPath } from './grep-output.ts'
import { missingFile } from './missing-file.ts'
import { labelOf } from './result-path.ts'
import { chooseFiles } from './search/file-choice.ts'
import { createMatchStream } from './search/match-stream.ts'
import { encodingOf, findUnsearched } from './search/other-encodings.ts'
import { createPathStream } from './search/path-stream.ts'
import { explainErrors, type Ripgrep, type RipgrepQuery, type RipgrepRun } from './search/ripgrep.ts'

const TIME_LIMIT_MS = 30_000
/** Matching lines of one file when many are searched. */
const PER_FILE = 100
const MOST_RESULTS = 10_000

const glob = () => z.string().min(1).max(4096)
const lineCount = () => z.int().min(0).max(1000).optional()
const input = () =>
  z.object({
    pattern: z.string().min(1).max(16_384).describe('Regular expression (Rust syntax, no look-around).'),
    path: z
      .string()
      .min(1)
      .default('.')
      .describe('File or folder to search; the working folder when left out.'),
    glob: z
      .union([glob(), z.array(glob()).max(100)], { error: 'must be a glob or a list of globs' })
      .optional()
      .describe(
        'Only files whose name ("*.ts", "*.{js,jsx}") or path below the folder ("src/**/*.ts") matches; "!*.min.js" leaves out. Several: a list, or "*.ts,*.js".',
      ),
    type: z
      .string()
      .regex(/^[A-Za-z0-9_+.-]+$/)
      .optional()
      .describe('Only files of a type (ts, py, rust, …) or with this extension.'),
    output_mode: z
      .enum(['files_with_matches', 'content', 'count'])
      .optional()
      .describe(
        'files_with_matches: paths only, newest first. content: matching lines. count: lines per file. Left out: content if before, after or context asks for lines, else files_with_matches.',
      ),
    case_insensitive: z.boolean().default(false).describe('Ignore case.'),
    fixed_strings: z
      .boolean()
      .default(false)
      .describe('The pattern is plain text, not a regular expression.'),
    multiline: z
      .boolean()
      .default(false)
      .describe('The pattern may match across lines, and . matches line ends.'),
    before: lineCount().describe('Lines to show before each match (content).'),
    after: lineCount().describe('Lines to show after each match (content).'),
    context: lineCount().describe('Lines to show before and after each match (content).'),
    head_limit: z
      .int()
      .min(0)
      .default(250)
      .describe('Maximum number of files or matching lines to return; 0 for as many as possible.'),
    offset: z.int().min(0).default(0).describe('Results to skip: next_offset of the call before.'),
    max_per_file: z
      .int()
      .min(1)
      .optional()
      .describe('Maximum number of matching lines per file (content); 100 unless path is a file.'),
    no_ignore: z.boolean().default(false).describe('Also files that .gitignore leaves out.'),
    line_numbers: z.boolean().default(true).describe('Show line numbers (content).'),
  })

type AskedGrep = z.output<ReturnType<typeof input>>
type GrepInput = AskedGrep & { readonly output_mode: NonNullable<AskedGrep['output_mode']> }

export function grepSearchTool(ripgrep: Ripgrep): AnyTool {
  return defineTool({
    name: 'grep_search',
    aliases: ['Grep', 'grep', 'search_files', 'search_file_content'],
    parameterAliases: {
      query: 'pattern',
      base_dir: 'path',
      directory: 'path',
      file_pattern: 'glob',
      include: 'glob',
      '-i': 'case_insensitive',
      '-n': 'line_numbers',
      '-A': 'after',
      '-B': 'before',
      '-C': 'context',
      context_lines: 'context',
      limit: 'head_limit',
      max_results: 'head_limit',
      include_ignored: 'no_ignore',
      cursor: { to: 'offset', convert: value => (typeof value === 'string' ? Number(value) : value) },
    },
    title: 'Search in files',
    description:
      'Search the contents of files with a regular expression (ripgrep). Returns the files that match; pass output_mode: "content" for the lines. ' +
      'Leaves out binary files, .git, .kogu and what .gitignore names; hidden files are included. Says how many results there are in all and which offset continues. Use this instead of grep or rg in a shell.',
    category: 'ReadOnly',
    risk: 'low',
    parallel: true,
    input,
    // `files`, `counts` or `matches` by file, as output_mode wants.
    output: {
      mode: { type: 'string' },
      total: { type: 'integer' },
      returned: { type: 'integer' },
      truncated: { type: 'boolean' },
      timed_out: { type: 'boolean' },
    },
    access: ({ path }, { cwd }) => [{ kind: 'file_read', path: toolPath(path, cwd) }],
    run: (asked, context) => search(ripgrep, asked, context),
  })
}

async function search(ripgrep: Ripgrep, asked: AskedGrep, context: ToolContext): Promise<ToolOutput> {
  const wanted: GrepInput = {
    ...asked,
    // Lines around a match can only be shown with the matches.
    output_mode: asked.output_mode ?? (asksForLines(asked) ? 'content' : 'files_with_matches'),
    head_limit: Math.min(asked.head_limit || MOST_RESULTS, MOST_RESULTS),
  }
  const place = await locate(wanted.path, context)
  const choice = chooseFiles(wanted.glob, [place.folder, context.files.resolve(wanted.path)])
  const accepts = (path: string): boolean =>
    choice.accepts(path) && context.permit.mayRead(join(place.folder, path))
  const query: RipgrepQuery = {
    pattern: wanted.pattern,
    ...place,
    fixedStrings: wanted.fixed_strings,
    ignoreCase: wanted.case_insensitive,
    multiline: wanted.multiline,
    noIgnore: wanted.no_ignore,
    type: wanted.type,
    names: wanted.type === undefined ? choice.names : undefined,
    excluded: choice.excluded,
    encoding: place.file === undefined ? undefined : await encodingOf(wanted.path, context),
    output: [],
  }
  const started = performance.now()
  const result = await collect(ripgrep, query, wanted, accepts, context.signal)
  const isUnexpected = result.total === 0 && performance.now() - started < 500
  const ignored =
    isUnexpected && !wanted.no_ignore ? await countIgnored(ripgrep, query, accepts, context.signal) : 0
  const unsearched =
    isUnexpected && place.file === undefined
      ? (await findUnsearched(ripgrep, query, accepts, context)).map(toResultPath(place, context))
      : []
  const format = { files_with_matches: formatFiles, content: formatContent, count: formatCounts }[
    wanted.output_mode
  ]
  const output = await format(
    { ...result, ...place, encoding: query.encoding, ignored, unsearched },
    wanted,
    context,
  )
  return { ...output, ...labelOf(place.folder, context) }
}

/** The folder to run in and, when a file was named, its name. */
async function locate(
  path: string,
  context: ToolContext,
): Promise<{ folder: string; file: string | undefined }> {
  const real = context.permit.judged(context.files.resolve(path))
  if (real === undefined) throw new ToolError('forbidden', `This call may not search ${path}`)
  const stat = lstatSync(real, { throwIfNoEntry: false })
  if (stat === undefined) throw await missingFile(path, context)
  if (stat.isDirectory()) return { folder: real, file: undefined }
  if (!stat.isFile()) throw new ToolError('invalid_input', `This is neither a file nor a folder: ${path}`)
  return { folder: dirname(real), file: basename(real) }
}

type Collected = Omit<GrepResult, 'folder' | 'file' | 'encoding' | 'ignored' | 'unsearched'>

async function collect(
  ripgrep: Ripgrep,
  query: RipgrepQuery,
  wanted: GrepInput,
  accepts: (path: string) => boolean,
  signal: AbortSignal,
): Promise<Collected> {
  const isContent = wanted.output_mode === 'content'
  const perFile = wanted.max_per_file ?? (query.file === undefined ? PER_FILE : Number.POSITIVE_INFINITY)
  const stream = isContent
    ? createMatchStream({
        accepts,
        perFile,
        needed: wanted.offset + wanted.head_limit,
        multiline: wanted.multiline,
      })
    : createPathStream({ accepts, counts: wanted.output_mode === 'count' })
  const run: RipgrepRun = {
    signal,
    timeoutMs: TIME_LIMIT_MS,
    onOutput: chunk => {
      stream.push(chunk)
      return undefined
    },
  }
  const ended = await ripgrep({ ...query, output: outputOptions(wanted) }, run)
  const summary = stream.summary()
  if (ended.exitCode === 2 && ended.errors !== '') {
    if (query.type !== undefined && /unrecognized file type/.test(ended.errors)) {
      // Not a type that ripgrep knows: an extension.
      const byName = { ...query, type: undefined, names: [`*.${query.type}`] }
      return collect(ripgrep, byName, wanted, accepts, signal)
    }
    throw explainErrors(ended.errors, wanted.pattern)
  }
  if (ended.timedOut && summary.fileCount === 0) {
    throw new ToolError('timeout', 'The search took longer than 30 seconds.', {
      hint: 'Search a smaller folder, or narrow it with glob or type.',
    })
  }
  return {
    ...summary,
    // What head_limit and offset count.
    total: isContent ? summary.matches : summary.fileCount,
    reachable: isContent ? summary.reachable : summary.fileCount,
    timedOut: ended.timedOut,
    incomplete: ended.exitCode === 2,
  }
}

function outputOptions({ output_mode, context, before, after }: GrepInput): string[] {
  if (output_mode === 'files_with_matches') return ['--files-with-matches', '--null']
  if (output_mode === 'count') return ['--count', '--null', '--with-filename']
  return ['--json', `--before-context=${before ?? context ?? 0}`, `--after-context=${after ?? context ?? 0}`]
}

/** How many ignored files match, when nothing else does: up to 50, within a second. */
async function countIgnored(
  ripgrep: Ripgrep,
  query: RipgrepQuery,
  accepts: (path: string) => boolean,
  signal: AbortSignal,
): Promise<number> {
  const stream = createPathStream({ accepts, counts: false })
  await ripgrep(
    { ...query, noIgnore: true, output: ['--files-with-matches', '--null'] },
    {
      signal,
      timeoutMs: 1000,
      onOutput: chunk => {
        stream.push(chunk)
        return stream.summary().fileCount < 50
      },
    },
  )
  return stream.summary().fileCount
}
