import * as z from 'zod'
import { withoutInvisible } from '../../../core/fence.ts'
import { convertHtml } from '../convert-html.ts'
import type { EngineName, SearchAnswer, SearchEngine, SearchResult } from './engine.ts'

export interface EngineSettings {
  readonly braveKey: string | undefined
  readonly searxngUrl: string | undefined
}

/** Undefined when it is not set up. */
export function findEngine(
  name: EngineName,
  { braveKey, searxngUrl }: EngineSettings,
): SearchEngine | undefined {
  switch (name) {
    case 'brave':
      return braveKey === undefined ? undefined : brave(braveKey)
    case 'duckduckgo':
      return DUCKDUCKGO
    case 'searxng':
      return searxngUrl === undefined ? undefined : searxng(searxngUrl)
  }
}

/** Engines leave out what they do not know; nothing of it is worth failing for. */
const text = () => z.string().catch('')
const list = <Item extends z.ZodType>(item: Item) =>
  z.array(z.unknown()).transform(all =>
    all.flatMap(each => {
      const parsed = item.safeParse(each)
      return parsed.success ? [parsed.data] : []
    }),
  )

const BRAVE_ANSWER = z.object({
  web: z
    .object({ results: list(z.object({ title: text(), url: text(), description: text() })).catch([]) })
    .optional(),
})

function brave(key: string): SearchEngine {
  return {
    name: 'brave',
    request: (query, count) => ({
      url: `https://api.search.brave.com/res/v1/web/search?q=${encodeURIComponent(query)}&count=${count}`,
      headers: { 'x-subscription-token': key, accept: 'application/json' },
    }),
    read(answer, count) {
      const parsed = BRAVE_ANSWER.safeParse(answer)
      return parsed.success ? { results: toResults(parsed.data.web?.results ?? [], count) } : undefined
    },
  }
}

const SEARXNG_ANSWER = z.object({
  results: list(z.object({ title: text(), url: text(), content: text() })),
  answers: list(
    z.union([z.string(), z.object({ answer: z.string() }).transform(({ answer }) => answer)]),
  ).catch([]),
})

function searxng(base: string): SearchEngine {
  return {
    name: 'searxng',
    request: (query, _count) => ({
      url: `${base.replace(/\/+$/, '')}/search?q=${encodeURIComponent(query)}&format=json`,
      headers: { accept: 'application/json' },
    }),
    read(answer, count) {
      const parsed = SEARXNG_ANSWER.safeParse(answer)
      if (!parsed.success) return undefined
      const results = parsed.data.results.map(({ content, ...result }) => ({
        ...result,
        description: content,
      }))
      return withAnswer({ results: toResults(results, count) }, { answer: parsed.data.answers[0] ?? '' })
    },
  }
}

const TOPIC = z.object({ Text: text(), FirstURL: text() })
const DUCKDUCKGO_ANSWER = z.object({
  Heading: text(),
  AbstractText: text(),
  AbstractURL: text(),
  Answer: z.union([z.string(), z.unknown().transform(() => '')]).catch(''),
  Definition: text(),
  DefinitionURL: text(),
  Results: list(TOPIC).catch([]),
  RelatedTopics: list(z.union([z.object({ Topics: list(TOPIC) }), TOPIC])).catch([]),
})

/** Instant answers: no key, and no list of pages. What it knows of a topic leads to some. */
const DUCKDUCKGO: SearchEngine = {
  name: 'duckduckgo',
  request: query => ({
    url: `https://api.duckduckgo.com/?q=${encodeURIComponent(query)}&format=json&no_html=1&skip_disambig=1`,
    headers: { accept: 'application/json' },
  }),
  read(answer, count) {
    const parsed = DUCKDUCKGO_ANSWER.safeParse(answer)
    if (!parsed.success) return undefined
    const { Heading, AbstractText, AbstractURL, Answer, Definition, DefinitionURL, Results, RelatedTopics } =
      parsed.data
    const topics = RelatedTopics.flatMap(topic => ('Topics' in topic ? topic.Topics : [topic]))
    const results = [
      { title: Heading, url: AbstractURL, description: AbstractText },
      { title: `Definition: ${Heading}`, url: DefinitionURL, description: Definition },
      ...[...Results, ...topics].map(({ Text, FirstURL }) => ({
        title: Text.split(' - ')[0] ?? '',
        url: FirstURL,
        description: Text,
      })),
    ]
    return withAnswer(
      { results: toResults(results, count) },
      { abstract: AbstractText, answer: Answer, definition: Definition },
    )
  },
}

function withAnswer(found: SearchAnswer, parts: NonNullable<SearchAnswer['answer']>): SearchAnswer {
  const known = Object.entries(parts)
    .map(([name, value]) => [name, plain(value ?? '')] as const)
    .filter(([, value]) => value !== '')
  return known.length === 0 ? found : { ...found, answer: Object.fromEntries(known) }
}

/** Only what leads to a page, and each once. */
function toResults(found: readonly SearchResult[], count: number): SearchResult[] {
  const seen = new Set<string>()
  const results: SearchResult[] = []
  for (const { title, url, description } of found) {
    if (!/^https?:\/\//i.test(url) || url.length > 2000 || seen.has(url) || results.length === count) continue
    seen.add(url)
    results.push({ title: plain(title), url: withoutInvisible(url).text, description: plain(description) })
  }
  return results
}

/** Engines mark words with tags. */
function plain(html: string): string {
  const { text: words } = convertHtml(html.slice(0, 5000), 'https://search.invalid/', 'text')
  return withoutInvisible(words).text.replaceAll(/\s+/g, ' ').slice(0, 1000)
}
