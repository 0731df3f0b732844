import { STATUS_CODES } from 'node:http'
import * as z from 'zod'
import { ToolError } from '../core/errors.ts'
import { type AnyTool, defineTool, type Risk } from '../core/tool.ts'
import type { WebClient } from '../tools/web/web-client.ts'

// What `fetch` and `kogu.readFile` inside code become: calls under the names and rules of web_fetch and read_file, with
// the raw content that code wants instead of text for a model. They are not in the registry that agents see.

const MOST_BYTES = 1024 * 1024
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
/** What belongs to the connection, or says who asks, is not for code to set. */
const OWN_HEADERS =
  /^(host|connection|content-length|transfer-encoding|upgrade|keep-alive|te|trailer|expect|user-agent|accept-encoding|proxy-.*)$/i

/** `risk`: reading a host that was declared when the tool was made is of low risk; anything else is asked about. */
export function ownTools(client: () => Promise<WebClient>, risk: Risk): AnyTool[] {
  return [fetchTool(client, risk), readTool]
}

const fetchTool = (client: () => Promise<WebClient>, risk: Risk): AnyTool =>
  defineTool({
    name: 'web_fetch',
    title: 'Fetch from code',
    description: 'What `fetch` in a dynamic tool does.',
    category: 'ReadOnly',
    risk,
    unrecorded: ['headers', 'body'],
    input: () =>
      z.object({
        url: z
          .string()
          .regex(/^https?:\/\//i, 'URL must start with http:// or https://')
          .max(8000),
        method: z.enum(METHODS),
        headers: z.array(z.tuple([z.string(), z.string()])).max(100),
        body: z.string().max(MOST_BYTES).optional(),
      }),
    access: ({ url, method }) => [{ kind: 'network', url, method }],
    async run({ url, method, headers, body }, { permit, signal }) {
      const judge = permit.judgeUrl
      if (judge === undefined)
        throw new ToolError('forbidden', 'The address was never authorized, so it is not contacted.')
      const target = new URL(url)
      target.hash = ''
      const response = await (await client()).get({
        url: target.href,
        method,
        headers: {
          'user-agent': 'kogu/0.1.0',
          ...Object.fromEntries(headers.filter(([name]) => !OWN_HEADERS.test(name))),
        },
        ...(body === undefined ? {} : { body }),
        // Where it is led is a request of its own, which is judged by itself.
        judge: (next, addresses) => (next === target.href ? judge(next, addresses) : REDIRECT),
        signal,
      })
      if (response.body.length > MOST_BYTES)
        throw new ToolError(
          'failed',
          `The response has ${response.body.length} bytes; code gets at most ${MOST_BYTES}.`,
        )
      return {
        text: `HTTP ${response.status} from ${response.url}`,
        data: {
          status: response.status,
          statusText: STATUS_CODES[response.status] ?? '',
          headers: Object.entries(response.headers),
          url: response.url,
          ...(response.held === undefined ? {} : { location: response.held.location }),
          body: new TextDecoder().decode(response.body),
        },
        label: { origin: 'web', trusted: false },
      }
    },
  })

const REDIRECT = { reason: 'It is another address.', canBeAllowed: true }

const readTool: AnyTool = defineTool({
  name: 'read_file',
  title: 'Read a file from code',
  description: 'What `kogu.readFile` in a dynamic tool does.',
  category: 'ReadOnly',
  risk: 'low',
  input: () => z.object({ path: z.string() }),
  access: ({ path }) => [{ kind: 'file_read', path }],
  async run({ path }, { files }) {
    const file = await files.open(path)
    try {
      if (file.size > MOST_BYTES)
        throw new ToolError('failed', `'${path}' has ${file.size} bytes; code gets at most ${MOST_BYTES}.`)
      const text = new TextDecoder().decode(await file.read(0, file.size))
      return { text: `${file.size} bytes of ${path}`, data: text }
    } finally {
      file.close()
    }
  },
})
