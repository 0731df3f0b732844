import { constants, mkdtempSync, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Processes } from '../../core/processes.ts'
import type { RunRequest, RunResult } from './processes.ts'

/** A program that goes on, whose input stays open. */
export interface PipedProcess {
  write(text: string): Promise<void>
  /** Ends its input, waits a moment, then ends it and everything it started. */
  end(): Promise<void>
  /** How it ended, as the rest of a sentence. Never rejects. */
  readonly ended: Promise<string>
  /** The last whole lines that it wrote to standard error. */
  errors(): string
}

type PipedRequest = Pick<RunRequest, 'signal' | 'timeoutMs' | 'stdinPath' | 'onStdout' | 'onStderr'>

export interface PipedOptions {
  readonly processes: Processes
  /** Starts the program, behind walls or not, with what is given here, and returns when it has ended. */
  readonly run: (request: PipedRequest) => Promise<RunResult>
  readonly onOutput: (text: string) => void
}

const LONGEST_MS = 2 ** 31 - 1
const POLITE_MS = 1500
const KEPT_ERRORS = 4000

export async function startPiped({ processes, run, onOutput }: PipedOptions): Promise<PipedProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'kogu-piped-'))
  const stdinPath = join(folder, 'stdin')
  const stop = new AbortController()
  await makePipe(processes, stdinPath, stop.signal)
  // Both ways, so that neither side waits for the other to open it.
  const input = new Socket({
    fd: openSync(stdinPath, constants.O_RDWR | constants.O_NONBLOCK),
    readable: false,
    writable: true,
  })
  input.on('error', () => undefined)
  // One each: a character that one stream has only begun must not swallow the beginning of the other's.
  const decoders = { output: new StringDecoder('utf8'), errors: new StringDecoder('utf8') }
  const errors = keepLastLines(KEPT_ERRORS)
  const ended = run({
    signal: stop.signal,
    timeoutMs: LONGEST_MS,
    stdinPath,
    onStdout(chunk) {
      onOutput(decoders.output.write(Buffer.from(chunk)))
      return undefined
    },
    onStderr(chunk) {
      errors.add(decoders.errors.write(Buffer.from(chunk)))
      return undefined
    },
  })
    .then(describeEnd, (error: unknown) => `could not be started: ${messageOf(error)}`)
    .finally(() => {
      input.destroy()
      rmSync(folder, { recursive: true, force: true })
    })
  return {
    ended,
    errors: errors.text,
    write: text =>
      new Promise((done, failed) => {
        if (input.destroyed) failed(new Error('The program has ended.'))
        else input.write(text, error => (error ? failed(error) : done()))
      }),
    async end() {
      input.destroy()
      await Promise.race([ended, sleep(POLITE_MS, undefined, { ref: false })])
      stop.abort()
      await ended
    },
  }
}

/** Never from the middle of a line: half a secret is not known as one, and would be shown. */
export function keepLastLines(most: number): { add(text: string): void; text(): string } {
  let kept = ''
  /** The line has begun with what is gone. */
  let isCut = false
  const dropLine = (from: number): void => {
    const end = kept.indexOf('\n', from)
    isCut = end === -1
    kept = isCut ? '' : kept.slice(end + 1)
  }
  return {
    add(text) {
      kept += text
      if (isCut) dropLine(0)
      if (kept.length > most) dropLine(kept.length - most - 1)
    },
    text: () => kept,
  }
}

async function makePipe(processes: Processes, path: string, signal: AbortSignal): Promise<void> {
  const { exitCode } = await processes.run({
    file: '/usr/bin/mkfifo',
    args: ['-m', '600', path],
    cwd: '/',
    env: {},
    timeoutMs: 10_000,
    signal,
  })
  if (exitCode !== 0) throw new Error(`mkfifo ended with ${exitCode}`)
}

function describeEnd({ exitCode, signal, limit }: RunResult): string {
  if (limit !== null) return `used too ${limit === 'memory' ? 'much memory' : 'many processes'}`
  return exitCode === null ? `was ended by ${signal ?? 'a signal'}` : `exited with code ${exitCode}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
