import type { ToolProcessResult } from '../core/processes.ts'
import type { ToolOutput } from '../core/tool.ts'
import { toLine } from '../core/visible.ts'

/**
 * What a program printed and how it ended, as run_command tells it. A program that fails is not a tool that fails, but its
 * answer is no.
 */
export function toProcessOutput(command: string, result: ToolProcessResult, durationMs: number): ToolOutput {
  const { exitCode, signal, timedOut, stdout, stderr, output, isTruncated, isTrusted, notes } = result
  const text = output.trimEnd()
  const failure = timedOut
    ? `Command timed out after ${Math.round(durationMs)} ms; its changes were discarded`
    : exitCode === 0
      ? undefined
      : `Command exited with ${exitCode === null ? (signal ?? 'a signal') : `code ${exitCode}`}`
  const end = failure === undefined ? [] : [`[${failure}]`]
  const silent = text === '' && exitCode === 0 ? ['Command completed successfully (no output)'] : []
  return {
    text: [...(text === '' ? [] : [text]), ...silent, ...end, ...notes.map(note => `[${toLine(note)}]`)].join(
      '\n',
    ),
    data: {
      command,
      exit_code: exitCode,
      success: exitCode === 0,
      stdout,
      stderr,
      truncated: isTruncated,
      timed_out: timedOut,
      duration_ms: Math.round(durationMs),
    },
    label: { origin: 'command', trusted: isTrusted },
    ...(failure === undefined ? {} : { verdict: { is: 'failed', why: `${failure}.` } }),
  }
}
