import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EngineName } from '../src/tools/web/search/engine.ts'
import { toSearchSettings, webSearchTool } from '../src/tools/web/search/web-search.ts'
import { createWebParts } from '../src/tools/web/web-parts.ts'
import { PUBLIC, type RawServer, respond, startRawServer, testInternet, toolCaller } from './support/web.ts'

// Search engines over real HTTP on loopback, with answers as they were recorded.

const KEY = 'BSA-test-key-0123456789'
let server: RawServer
let answer: { status: string; body: string; headers: Record<string, string> }
const answers = new Map<string, typeof answer>()

beforeAll(async () => {
  server = await startRawServer((socket, _path, request) => {
    const host = /^host: (.*)$/im.exec(request)?.[1]?.trim() ?? ''
    const { status, body, headers } = answers.get(host) ?? {
      status: '500 None',
      body: 'no answer',
      headers: {},
    }
    respond(socket, body, { 'content-type': 'application/json', ...headers }, status)
  })
})
afterAll(() => server.close())

const says = (host: string, body: unknown, status = '200 OK', headers: Record<string, string> = {}): void => {
  answers.set(host, { status, body: typeof body === 'string' ? body : JSON.stringify(body), headers })
}

interface Options {
  key?: string
  engine?: EngineName | EngineName[]
  max_results?: number
  searxng_url?: string
  rules?: Parameters<typeof toolCaller>[1]
}

function searcher({ key, rules, ...config }: Options = {}) {
  const internet = testInternet(server.port)
  for (const host of ['api.search.brave.com', 'api.duckduckgo.com', 'search.test'])
    internet.names.set(host, [PUBLIC])
  const tool = webSearchTool(createWebParts({ network: internet }), toSearchSettings(config, key))
  return { search: toolCaller(tool, rules), internet }
}

const BRAVE = {
  type: 'search',
  query: { original: 'kogu' },
  web: {
    type: 'search',
    results: [
      {
        title: 'Kogu <strong>tools</strong>',
        url: 'https://kogu.test/',
        description: 'All &amp; everything\u200b',
        language: 'en',
      },
      { title: 'No description', url: 'https://b.test/' },
      { url: 'javascript:alert(1)', title: 'evil' },
      { title: 5, url: 'https://c.test/', description: null },
      'nonsense',
      { title: 'Kogu again', url: 'https://kogu.test/', description: 'twice' },
    ],
  },
}

const DUCK = {
  Abstract: 'A tool',
  AbstractText: 'A tool is an object.',
  AbstractURL: 'https://wiki.test/Tool',
  Answer: '',
  Definition: 'tool: an implement',
  DefinitionURL: 'https://dict.test/tool',
  Heading: 'Tool',
  RelatedTopics: [
    { FirstURL: 'https://duck.test/Hammer', Result: '<a>Hammer</a>', Text: 'Hammer - A tool that hits.' },
    { Name: 'Music', Topics: [{ FirstURL: 'https://duck.test/Tool_(band)', Text: 'Tool (band) - A band.' }] },
  ],
  Results: [],
  Type: 'A',
}

describe('engines', () => {
  test('Brave is asked when there is a key, with the key in its header', async () => {
    says('api.search.brave.com', BRAVE)
    const { search } = searcher({ key: KEY })
    const { data, text, label } = await search({ query: 'kogu & more', num_results: 50 })
    expect(data).toEqual({
      query: 'kogu & more',
      provider: 'brave',
      num_results: 3,
      results: [
        { title: 'Kogu tools', url: 'https://kogu.test/', description: 'All & everything' },
        { title: 'No description', url: 'https://b.test/', description: '' },
        { title: '', url: 'https://c.test/', description: '' },
      ],
    })
    const request = server.requests.at(-1) ?? ''
    expect(request).toMatch(/^GET \/res\/v1\/web\/search\?q=kogu%20%26%20more&count=20 HTTP/)
    expect(request.toLowerCase()).toContain(`x-subscription-token: ${KEY.toLowerCase()}`)
    expect(text).not.toContain(KEY)
    expect(text).toContain('<untrusted-content source="brave"')
    expect(label).toMatchObject({ origin: 'web', trusted: false })
  })

  test('DuckDuckGo without a key: abstract, definition and topics', async () => {
    says('api.duckduckgo.com', DUCK)
    const { search } = searcher()
    const { data } = await search({ query: 'tool', num_results: 3 })
    expect(data).toEqual({
      query: 'tool',
      provider: 'duckduckgo',
      num_results: 3,
      results: [
        { title: 'Tool', url: 'https://wiki.test/Tool', description: 'A tool is an object.' },
        { title: 'Definition: Tool', url: 'https://dict.test/tool', description: 'tool: an implement' },
        { title: 'Hammer', url: 'https://duck.test/Hammer', description: 'Hammer - A tool that hits.' },
      ],
      answer: { abstract: 'A tool is an object.', definition: 'tool: an implement' },
    })
    expect(((await search({ query: 'tool' })).data as { num_results: number }).num_results).toBe(4)
  })

  test('DuckDuckGo knows nothing: an empty answer is a result', async () => {
    says('api.duckduckgo.com', {
      ...DUCK,
      AbstractText: '',
      AbstractURL: '',
      Definition: '',
      DefinitionURL: '',
      RelatedTopics: [],
      Answer: {},
    })
    expect((await searcher().search({ query: 'x' })).data).toMatchObject({ num_results: 0, results: [] })
  })

  test('SearXNG by its address', async () => {
    says('search.test', {
      query: 'q',
      results: [{ title: 'A', url: 'https://a.test/', content: 'about a' }],
      answers: ['42'],
    })
    const { search } = searcher({ engine: ['searxng'], searxng_url: 'https://search.test/' })
    expect((await search({ query: 'q' })).data).toMatchObject({
      provider: 'searxng',
      results: [{ title: 'A', url: 'https://a.test/', description: 'about a' }],
      answer: { answer: '42' },
    })
    expect(server.requests.at(-1)).toMatch(/^GET \/search\?q=q&format=json HTTP/)
  })
})

describe('what goes wrong', () => {
  test('Brave without a key says what to set', async () => {
    await expect(searcher({ engine: ['brave'] }).search({ query: 'x' })).rejects.toThrow(
      'BRAVE_SEARCH_API_KEY not configured. Set this environment variable to enable web search.',
    )
  })

  test.each([
    ['429 Too Many', { error: 'rate limited' }, 'Search API error (429): {"error":"rate limited"}'],
    ['401 No', `bad token ${KEY}`, 'Search API error (401): bad token ‹key›'],
    ['500 Oops', '', 'Search API error (500):'],
    ['200 OK', '<html>', 'Failed to parse search results: the response is not JSON.'],
    ['200 OK', [1], 'Failed to parse search results: unexpected format.'],
    ['200 OK', { web: { results: 'x' } }, null],
  ])('an answer of %s with %j', async (status, body, message) => {
    says('api.search.brave.com', body, status)
    const call = searcher({ key: KEY, engine: ['brave'] }).search({ query: 'x' })
    if (message === null) expect((await call).data).toMatchObject({ num_results: 0 })
    else await expect(call).rejects.toThrow(message)
  })

  test('the next engine answers, and the reason is visible without the key', async () => {
    says('api.search.brave.com', `limit for ${KEY}`, '429 Too Many')
    says('api.duckduckgo.com', DUCK)
    const { search } = searcher({ key: KEY })
    const output = await search({ query: 'tool' })
    expect(output.data).toMatchObject({
      provider: 'duckduckgo',
      failed: [{ provider: 'brave', reason: 'Search API error (429): limit for ‹key›' }],
    })
    expect(output.text).toContain('brave did not answer')
    expect(JSON.stringify(output)).not.toContain(KEY)
  })

  test('a redirect is not followed: the key would go along', async () => {
    says('api.search.brave.com', '', '302 Found', { location: 'https://evil.test/' })
    const { search, internet } = searcher({ key: KEY, engine: ['brave'] })
    await expect(search({ query: 'x' })).rejects.toThrow(/redirects to another address/)
    expect(internet.lookups).toEqual(['api.search.brave.com'])
  })

  test('an engine that a rule forbids is not asked, the next one is', async () => {
    says('api.search.brave.com', BRAVE)
    says('api.duckduckgo.com', DUCK)
    const rules = [{ decision: 'deny' as const, host: ['api.duckduckgo.com'] }]
    const first = searcher({ key: KEY, rules, engine: ['duckduckgo', 'brave'] })
    await expect(first.search({ query: 'x' })).rejects.toMatchObject({ code: 'denied' })
    says('api.search.brave.com', 'no', '500 No')
    const second = searcher({ key: KEY, rules })
    await expect(second.search({ query: 'x' })).rejects.toThrow(/No engine answered/)
    expect(second.internet.lookups).toEqual(['api.search.brave.com'])
  })

  test('a SearXNG in the own network needs a rule that names it', async () => {
    const call = searcher({ engine: 'searxng', searxng_url: 'http://127.0.0.1:8080' }).search({ query: 'x' })
    await expect(call).rejects.toMatchObject({ code: 'forbidden' })
  })

  test('an empty query is none', async () => {
    await expect(searcher().search({ query: '  ' })).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(searcher().search({})).rejects.toThrow(/query/)
  })
})
