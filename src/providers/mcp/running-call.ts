import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import type { ToolContext } from '../../core/tool.ts'
import { clean } from './to-tool.ts'
import { cleanText } from './tool-definition.ts'

/** A call of a server that has not come back. */
export interface Running extends Pick<ToolContext, 'elicit'> {
  readonly silence: Silence
}

/** How long a server may say nothing. */
export interface Silence {
  readonly signal: AbortSignal
  /** It said something. */
  end(): void
  pausedFor<T>(work: () => Promise<T>): Promise<T>
  close(): void
}

export function limitSilence(ms: number): Silence {
  const over = new AbortController()
  const start = (): NodeJS.Timeout => setTimeout(() => over.abort(), ms)
  let timer = start()
  const end = (): void => {
    clearTimeout(timer)
    timer = start()
  }
  return {
    signal: over.signal,
    end,
    async pausedFor(work) {
      clearTimeout(timer)
      try {
        return await work()
      } finally {
        end()
      }
    },
    close: () => clearTimeout(timer),
  }
}

/**
 * A server's form for the person who called it. The older protocol does not say which call a form belongs to, so that it
 * is passed on only while there is one: nobody else is to answer in its place.
 */
export async function answerForm(
  server: string,
  running: ReadonlySet<Running>,
  params: ElicitRequest['params'],
): Promise<ElicitResult> {
  const [call, another] = running
  if (call?.elicit === undefined || another !== undefined || !('requestedSchema' in params))
    return { action: 'cancel' }
  const { elicit, silence } = call
  const form = {
    message: `The MCP server '${server}' asks: ${cleanText(params.message)}`,
    // Parsed by the SDK; only the words in it are changed.
    schema: clean(params.requestedSchema) as typeof params.requestedSchema,
  }
  const answer = await silence.pausedFor(() => elicit(form))
  if (answer.action !== 'accept') return { action: answer.action }
  // Whoever fills in the form keeps to its schema; the server checks it.
  return { action: 'accept', content: answer.content as NonNullable<ElicitResult['content']> }
}
