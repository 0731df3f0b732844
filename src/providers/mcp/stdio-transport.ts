import { setTimeout as sleep } from 'node:timers/promises'
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/client'
import type { PipedProcess } from '../../sandbox/processes/piped-process.ts'

/** One message may be so long; a server that writes more without a line break is ended. */
const LONGEST_LINE = 10 * 1024 * 1024

export interface StdioTransport extends Transport {
  /** Why the server is gone, with the end of what it wrote to standard error. Undefined when it is there, or was stopped. */
  over(): Promise<string | undefined>
  /** The end of what it wrote to standard error. */
  errors(): string
}

/** Between the end of a server's output and the news of its own end. */
const MOMENT_MS = 500

/**
 * Messages line by line over a process that we start ourselves, in a sandbox and a process group. What is not a message
 * is noise: it is skipped, as every server prints something once.
 */
export function createStdioTransport(
  start: (onOutput: (text: string) => void) => Promise<PipedProcess>,
): StdioTransport {
  let process: PipedProcess | undefined
  let rest = ''
  let reason: string | undefined
  let isStopped = false
  const transport: StdioTransport = {
    async over() {
      await Promise.race([process?.ended, sleep(MOMENT_MS)])
      return reason
    },
    errors: () => process?.errors() ?? '',
    async start() {
      process = await start(take)
      void process.ended.then(end => {
        // Without the frames of a stack: what it says stands above them.
        const lines = process?.errors().trim().split('\n') ?? []
        const errors = lines
          .filter(line => !/^\s+at /.test(line))
          .slice(-5)
          .join('\n')
        if (!isStopped) reason ??= errors === '' ? `it ${end}` : `it ${end}, and wrote: ${errors}`
        transport.onclose?.()
      })
    },
    async send(message) {
      if (process === undefined) throw new Error('The server is not started.')
      await process.write(`${JSON.stringify(message)}\n`)
    },
    async close() {
      isStopped = true
      await process?.end()
    },
  }
  function take(text: string): void {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST_LINE) {
      reason = 'it wrote a line of more than 10 MiB'
      transport.onerror?.(new Error(reason))
      rest = ''
      void process?.end()
    }
    for (const line of lines) {
      const message = parse(line)
      if (message !== undefined) transport.onmessage?.(message)
    }
  }
  return transport
}

function parse(line: string): JSONRPCMessage | undefined {
  if (!line.trimStart().startsWith('{')) return undefined
  try {
    return parseJSONRPCMessage(JSON.parse(line))
  } catch {
    return undefined
  }
}
