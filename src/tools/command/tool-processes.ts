import { relative } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import { compileGlob, matchesPath } from '../../core/glob.ts'
import type { Permit } from '../../core/permit.ts'
import type { Declared, ToolProcesses } from '../../core/processes.ts'
import { toShellLine } from '../../core/shell-words.ts'
import type { ProcessContext } from '../../core/tool.ts'
import { runForeground } from './foreground.ts'
import type { CommandParts } from './parts.ts'
import { isTrusted } from './run-command.ts'

/** Processes for one call: the line that was judged for it runs as `run_command` would run it, and no other. */
export function openToolProcesses(parts: CommandParts, context: ProcessContext, tool: string): ToolProcesses {
  return {
    async run({ command, words, trusted, timeoutMs, outputBytes, idleTimeoutMs, stdin, env, within }) {
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
          ...(trusted === undefined ? {} : { trusted }),
          timeoutMs,
          ...(outputBytes === undefined ? {} : { outputBytes }),
          idleTimeoutMs,
          stdin,
          additions: env ?? {},
          preview: false,
          tool,
          keepsState: false,
        },
        within === undefined
          ? context
          : { ...context, permit: narrowPermit(context.permit, within, parts.workspace) },
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

/** The permit, but for hosts and paths that the tool does not declare. */
function narrowPermit(permit: Permit, { network, writes }: Declared, workspace: string): Permit {
  if (permit.command === undefined) return permit
  const { network: judgeHost, deniesChange, ...command } = permit.command
  const globs = writes.map(pattern => compileGlob(pattern))
  const isDeclared = (path: string): boolean =>
    // Folders on the way to what is declared belong to it.
    globs.some(glob => matchesPath(glob, path) || glob.root.startsWith(`${path}/`) || glob.root === path)
  return {
    ...permit,
    command: {
      ...command,
      ...(judgeHost === undefined || network.length === 0
        ? {}
        : {
            network: (host, port, addresses) =>
              network.some(name => name === host || (name.startsWith('*.') && host.endsWith(name.slice(1))))
                ? judgeHost(host, port, addresses)
                : { reason: 'the tool does not declare this host', canBeAllowed: false },
          }),
      deniesChange: (kind, path) =>
        deniesChange?.(kind, path) ??
        (isDeclared(relative(workspace, path)) ? null : 'the tool does not declare that it writes there'),
    },
  }
}
