import { ToolError } from '../../core/errors.ts'
import type { ToolProcesses } from '../../core/processes.ts'
import { toShellLine } from '../../core/shell-words.ts'
import type { ProcessContext } from '../../core/tool.ts'
import { runForeground } from './foreground.ts'
import type { CommandParts } from './parts.ts'
import { isTrusted } from './run-command.ts'

/** Processes for one call: the line that was judged for it runs as `run_command` would run it, and no other. */
export function openToolProcesses(parts: CommandParts, context: ProcessContext, tool: string): ToolProcesses {
  return {
    async run({ command, words, timeoutMs, idleTimeoutMs, stdin, env }) {
      const judged = context.permit.access.find(access => access.kind === 'execute')
      const isJudged = judged?.command === command && (words === undefined || toShellLine(words) === command)
      if (!isJudged) {
        throw new ToolError(
          'forbidden',
          `The tool '${tool}' may not run this: it was not judged for the call.`,
        )
      }
      const done = await runForeground(
        parts,
        {
          line: command,
          ...(words === undefined ? {} : { words }),
          timeoutMs,
          idleTimeoutMs,
          stdin,
          additions: env ?? {},
          preview: false,
          tool,
          keepsState: false,
        },
        context,
      )
      const { exitCode, signal, timedOut, idledOut, stopped } = done.result
      return {
        exitCode,
        signal,
        timedOut: timedOut || idledOut,
        stopped,
        stdout: parts.redact(done.stdout.text),
        stderr: parts.redact(done.stderr.text),
        output: parts.redact(done.output.text),
        isTruncated: done.output.truncated,
        notes: [...done.notes, ...(done.denial === null ? [] : [done.denial.message])],
        isTrusted: isTrusted(parts, context.permit),
      }
    },
  }
}
