import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { ToolError } from '../../core/errors.ts'

export class BodyTooLarge extends Error {}

const MOST_ENCODINGS = 2

/** The body of a response, unpacked. It ends as soon as it is too large, packed or unpacked; nothing is kept of the rest. */
export async function readBody(
  body: Readable,
  headers: Readonly<Record<string, string>>,
  mostBytes: number,
): Promise<Uint8Array> {
  const announced = Number(headers['content-length'] ?? 0)
  if (announced > mostBytes) throw tooLarge(mostBytes)
  const encodings = (headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '' && name !== 'identity')
  if (encodings.length > MOST_ENCODINGS)
    throw new ToolError('failed', 'The response is compressed too many times.')
  let source: AsyncIterable<Uint8Array> = limited(body, mostBytes)
  for (const name of encodings.reverse()) source = limited(unpacked(source, name), mostBytes)
  const chunks: Uint8Array[] = []
  for await (const chunk of source) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function* limited(source: AsyncIterable<Uint8Array>, mostBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    if (bytes > mostBytes) throw tooLarge(mostBytes)
    yield chunk
  }
}

function tooLarge(mostBytes: number): BodyTooLarge {
  return new BodyTooLarge(`it is larger than ${Math.round(mostBytes / 1024 / 1024)} MB.`)
}

async function* unpacked(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]()
  const first = await iterator.next()
  const unpacker = unpackerFor(name, first.done === true ? undefined : first.value)
  const feeding = feed(unpacker, first, iterator)
  try {
    for await (const chunk of unpacker) yield chunk
    await feeding
  } catch (error) {
    // Feeding knows why the source ended; the unpacker only that it did.
    await feeding.catch(cause => {
      throw cause
    })
    throw error
  } finally {
    unpacker.destroy()
    await iterator.return?.(undefined)
  }
}

async function feed(
  unpacker: Transform,
  first: IteratorResult<Uint8Array>,
  iterator: AsyncIterator<Uint8Array>,
): Promise<void> {
  try {
    for (let next = first; next.done !== true; next = await iterator.next()) {
      if (unpacker.destroyed) return
      if (!unpacker.write(next.value)) await drained(unpacker)
    }
    unpacker.end()
  } catch (error) {
    unpacker.destroy(error instanceof Error ? error : new Error(String(error)))
    throw error
  }
}

function drained(unpacker: Transform): Promise<void> {
  return new Promise(resolve => {
    unpacker.once('drain', resolve)
    unpacker.once('close', resolve)
  })
}

function unpackerFor(name: string, head: Uint8Array | undefined): Transform {
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'br':
      return createBrotliDecompress()
    case 'deflate':
      // Some servers leave the wrapper out that the standard demands.
      return ((head?.[0] ?? 0x78) & 0x0f) === 0x08 ? createInflate() : createInflateRaw()
    default:
      throw new ToolError(
        'failed',
        `The response has the encoding '${name.slice(0, 40)}', which is not supported.`,
      )
  }
}
