import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import * as z from 'zod'
import { ToolError } from '../../core/errors.ts'
import { PROCESS_FIELDS } from '../../core/processes.ts'
import { toShellLine } from '../../core/shell-words.ts'
import { type AnyTool, defineTool } from '../../core/tool.ts'
import { toLine } from '../../core/visible.ts'
import { toProcessOutput } from '../process-output.ts'

const TIMEOUT_MS = 120_000
/** A filter that does not end by then does not end. */
const QUERY_MS = 20_000

/** A program under a name of its own: its arguments one by one, judged and sandboxed like any command line. */
export function programTool(name: string, program: string, description: string): AnyTool {
  return commandTool(name, description, {
    input: () =>
      z.object({
        args: z
          .array(z.string().refine(noNul, NUL))
          .default([])
          .describe(`Arguments of ${program}, one by one`),
        stdin: z.string().optional().describe('Text for its standard input'),
      }),
    toWords: ({ args }) => [program, ...args],
    toStdin: ({ stdin }) => stdin,
  })
}

/** jq, with its program and its file apart, so that neither can be taken for an option. */
export function jqTool(program: string): AnyTool {
  return commandTool('json_query', 'Query a JSON file, or JSON text, with a jq filter.', {
    input: () =>
      z.object({
        filter: z.string().min(1).refine(noNul, NUL).describe('A jq filter, such as .items[].name'),
        path: z.string().refine(noNul, NUL).optional().describe('The JSON file'),
        json: z.string().optional().describe('JSON text, in place of a file'),
        raw: z.boolean().default(false).describe('Print strings without quotes'),
      }),
    // jq 1.6 does not know `--`: a space and a folder keep a leading dash from being an option.
    toWords: ({ filter, path, raw }) => [
      program,
      ...(raw ? ['-r'] : []),
      filter.startsWith('-') ? ` ${filter}` : filter,
      ...(path === undefined ? [] : [path.startsWith('-') ? `./${path}` : path]),
    ],
    toStdin: ({ json, path }) => (path === undefined ? (json ?? 'null') : undefined),
    file: ({ path }) => path,
    timeoutMs: QUERY_MS,
  })
}

const NUL = 'cannot hold a NUL character'
const noNul = (text: string): boolean => !text.includes('\0')

interface Definition<Shape extends z.ZodRawShape> {
  input: () => z.ZodObject<Shape>
  toWords(input: z.output<z.ZodObject<Shape>>): readonly string[]
  toStdin(input: z.output<z.ZodObject<Shape>>): string | undefined
  /** The file that it reads. */
  file?(input: z.output<z.ZodObject<Shape>>): string | undefined
  readonly timeoutMs?: number
}

function commandTool<Shape extends z.ZodRawShape>(
  name: string,
  description: string,
  { input, toWords, toStdin, file, timeoutMs = TIMEOUT_MS }: Definition<Shape>,
): AnyTool {
  return defineTool({
    name,
    title: name,
    description,
    category: 'Execution',
    risk: 'high',
    input,
    output: PROCESS_FIELDS,
    access: given => [{ kind: 'execute', command: toShellLine(toWords(given)) }],
    async run(given, { processes, cwd }) {
      refuseEndless(file?.(given), cwd)
      const words = toWords(given)
      const command = toShellLine(words)
      const stdin = toStdin(given)
      const started = performance.now()
      const result = await processes.run({
        command,
        words,
        timeoutMs,
        ...(stdin === undefined ? {} : { stdin }),
      })
      return toProcessOutput(command, result, performance.now() - started)
    },
  })
}

/** A pipe or a device may never come to an end. */
function refuseEndless(path: string | undefined, cwd: string): void {
  const stat = path === undefined ? undefined : statSync(resolve(cwd, path), { throwIfNoEntry: false })
  if (path === undefined || stat === undefined || stat.isFile() || stat.isDirectory()) return
  throw new ToolError('invalid_input', `${toLine(path)} is a pipe, socket or device, not a file.`)
}
