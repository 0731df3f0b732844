import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { createSeal } from '../../core/seal.ts'

// `kogu open` makes links by itself, with the key that no tool can read, and sends nothing to the server: after a crash,
// whoever listens on its port would get it. Each is for one start of one server, so a link that was opened there is of no
// use to them either.

const LINK_MS = 10 * 60_000
/** No other text that is sealed begins like this. */
const MARK = 'kogu open '

const schema = z.object({
  /** Which start of the server it is for. */
  server: z.uuid(),
  /** Makes it another one than the one before. */
  id: z.uuid(),
  /** A page of ours: nothing that a browser could take for another site. */
  target: z.string().regex(/^\/(?![/\\])[\w/.-]*$/),
  until: z.number(),
})

export type OpenLink = z.infer<typeof schema>

/** Undefined when the target is not the path of a page. */
export function sealLink(sealKey: string, wanted: { server: string; target: string; now: number }) {
  const { server, target, now } = wanted
  const link = schema.safeParse({ server, target, id: randomUUID(), until: now + LINK_MS })
  if (!link.success) return undefined
  const sealed = createSeal(sealKey).add(`${MARK}${JSON.stringify(link.data)}`)
  return Buffer.from(sealed).toString('base64url')
}

/** Undefined when it was not made here, is for another server, or too old. Whether it was used is not known here. */
export function readLink(sealKey: string, link: string, server: string, now: number): OpenLink | undefined {
  const text = createSeal(sealKey).open(Buffer.from(link, 'base64url').toString()) ?? ''
  if (!text.startsWith(MARK)) return undefined
  const found = schema.parse(JSON.parse(text.slice(MARK.length)))
  return found.server === server && found.until > now ? found : undefined
}
