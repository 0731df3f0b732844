import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { ToolError } from '../../core/errors.ts'
import { EMPTY_PROFILE } from '../../core/sandbox.ts'
import { findOwnProgram, OWN_PROGRAM_FLAGS } from '../processes/own-program.ts'
import type { Sandbox } from '../walls/sandbox.ts'

interface PdfText {
  readonly total: number
  readonly pages: readonly { readonly page: number; readonly text: string }[]
}

export type ReadPdf = (
  bytes: Uint8Array,
  pages: { readonly first: number; readonly last: number },
  signal: AbortSignal,
) => Promise<PdfText>

const MOST_ANSWER = 8 * 1024 * 1024
const TIMEOUT_MS = 20_000
const MB = 1024 * 1024

/** Extracts the text of a document in a process without network, without files to write and with little memory. */
export function createPdfReader(sandbox: () => Sandbox | null, hidden: readonly string[]): ReadPdf {
  return async (bytes, { first, last }, signal) => {
    const walls = sandbox()
    if (walls === null) {
      throw new ToolError(
        'failed',
        'PDF documents are only opened in a sandbox, and this machine has none.',
        {
          hint: 'Run `kogu doctor` to see what is missing.',
        },
      )
    }
    const program = findOwnProgram('pdf/pdf-child')
    const answer: Uint8Array[] = []
    let size = 0
    const result = await walls.run(
      {
        ...EMPTY_PROFILE,
        hidden,
        readable: [packageOf(program)],
        limits: { memoryBytes: 2048 * MB, processes: 64, cpuSeconds: 20, fileBytes: 0, openFiles: 128 },
      },
      {
        file: process.execPath,
        // A second wall inside the first: no other files, no programs, no add-ons.
        args: [
          ...OWN_PROGRAM_FLAGS,
          '--permission',
          `--allow-fs-read=${packageOf(program)}`,
          '--max-old-space-size=512',
          program,
          String(first),
          String(last),
        ],
        stdin: bytes,
        timeoutMs: TIMEOUT_MS,
        signal,
        onStdout(chunk) {
          size += chunk.length
          if (size <= MOST_ANSWER) answer.push(chunk)
          return size <= MOST_ANSWER
        },
      },
    )
    signal.throwIfAborted()
    if (result.timedOut)
      throw new ToolError('timeout', `Reading the PDF took longer than ${TIMEOUT_MS / 1000} s.`)
    return parse(Buffer.concat(answer).toString())
  }
}

const answerSchema = () =>
  z.object({ total: z.int(), pages: z.array(z.object({ page: z.int(), text: z.string() })) })

/** What comes out of the process is data of whoever made the document. */
function parse(text: string): PdfText {
  try {
    return answerSchema().parse(JSON.parse(text))
  } catch {
    // It died, or was made to say something else.
    throw new ToolError('failed', 'The PDF cannot be read: it is damaged, encrypted or too large.')
  }
}

/** The folder that holds the program and the modules it loads. */
function packageOf(program: string): string {
  for (let folder = dirname(program); folder !== '/'; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder
  }
  return dirname(program)
}
