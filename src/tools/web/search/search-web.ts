import { ToolError } from '../../../core/errors.ts'
import { fenceUntrusted } from '../../../core/fence.ts'
import type { JudgeUrl } from '../../../core/permit.ts'
import type { ToolContext, ToolOutput } from '../../../core/tool.ts'
import { USER_AGENT, type WebClient } from '../web-client.ts'
import type { WebParts } from '../web-fetch.ts'
import type { EngineName, SearchAnswer, SearchEngine } from './engine.ts'
import { findEngine } from './engines.ts'
import type { SearchInput, SearchSettings } from './web-search.ts'

const TIMEOUT_MS = 15_000
const MOST_RESULTS = 20

interface Failure {
  readonly provider: EngineName
  readonly reason: string
}

/** Asks the engines in their order until one answers; why others did not is part of the result. */
export async function searchWeb(
  { query, num_results }: SearchInput,
  context: ToolContext,
  parts: WebParts,
  settings: SearchSettings,
): Promise<ToolOutput> {
  const { judgeUrl: judge } = context.permit
  if (judge === undefined)
    throw new ToolError('forbidden', 'The search was never authorized, so nothing is contacted.')
  const client = await parts.client()
  const count = Math.min(num_results ?? settings.count, MOST_RESULTS)
  const failed: Failure[] = []
  for (const name of settings.engines) {
    const engine = findEngine(name, settings)
    if (engine === undefined) continue
    try {
      const answer = await ask(engine, query, count, { client, judge, signal: context.signal })
      return toOutput(query, name, answer, failed)
    } catch (error) {
      if (!(error instanceof ToolError) || error.code === 'cancelled') throw error
      failed.push({ provider: name, reason: withoutKey(error.message, settings) })
    }
  }
  const reasons = failed.map(({ provider, reason }) => `${provider}: ${reason}`)
  throw new ToolError(
    'failed',
    reasons.length === 1 ? (failed[0]?.reason ?? '') : `No engine answered. ${reasons.join(' ')}`,
  )
}

async function ask(
  engine: SearchEngine,
  query: string,
  count: number,
  { client, judge, signal }: { client: WebClient; judge: JudgeUrl; signal: AbortSignal },
): Promise<SearchAnswer> {
  const { url, headers } = engine.request(query, count)
  // Not followed: a redirect would carry the key along.
  const request = {
    url,
    headers: { 'user-agent': USER_AGENT, ...headers },
    judge,
    signal,
    timeoutMs: TIMEOUT_MS,
    redirects: 0,
  }
  const response = await client.get(request).catch((error: unknown) => {
    if (!(error instanceof ToolError) || error.code === 'cancelled') throw error
    const reason = error.message.replace(/^(HTTP request failed|Failed to read response body): /, '')
    throw new ToolError(error.code, `Search API request failed: ${reason}`)
  })
  const body = new TextDecoder().decode(response.body)
  if (response.status !== 200) {
    throw new ToolError('failed', `Search API error (${response.status}): ${body.slice(0, 200).trim()}`)
  }
  const answer = engine.read(parseJson(body), count)
  if (answer === undefined)
    throw new ToolError('failed', 'Failed to parse search results: unexpected format.')
  return answer
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON, or cut off.
    throw new ToolError('failed', 'Failed to parse search results: the response is not JSON.')
  }
}

/** An engine may say it back. */
function withoutKey(message: string, { braveKey }: SearchSettings): string {
  return braveKey === undefined ? message : message.replaceAll(braveKey, '‹key›')
}

function toOutput(
  query: string,
  provider: EngineName,
  found: SearchAnswer,
  failed: readonly Failure[],
): ToolOutput {
  const { results, answer } = found
  const known = Object.entries(answer ?? {}).map(([name, value]) => `${name}: ${value}`)
  const lines = results.map(
    ({ title, url, description }, index) => `${index + 1}. ${title}\n   ${url}\n   ${description}`,
  )
  const body = [...known, ...lines].join('\n\n') || 'No results.'
  const notes = failed.map(failure => `${failure.provider} did not answer: ${failure.reason}`)
  const more =
    provider === 'duckduckgo'
      ? ['DuckDuckGo returns topics, not pages; use web_fetch on an address for details.']
      : []
  const all = [...notes, ...more]
  return {
    text: `${fenceUntrusted(body, provider)}${all.length === 0 ? '' : `\n[${all.join(' ')}]`}`,
    data: {
      query,
      provider,
      num_results: results.length,
      results,
      ...(answer === undefined ? {} : { answer }),
      ...(failed.length === 0 ? {} : { failed }),
    },
    label: { origin: 'web', trusted: false },
  }
}
