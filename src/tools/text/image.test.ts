import fc from 'fast-check'
import { expect, test } from 'vitest'
import { looksLikeImage, parseImage } from './image.ts'

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const WEBP = Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64')
const JPEG = Buffer.from([
  ...[0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0],
  ...[0xff, 0xc0, 0, 11, 8, 0, 5, 0, 7, 1, 1, 0x11, 0],
  ...[0xff, 0xda, 0, 8, 1, 1, 0, 0, 0x3f, 0, 0x12, 0x34, 0xff, 0xd9],
])

test.each([
  ['GIF', GIF, { mimeType: 'image/gif', width: 1, height: 1 }],
  ['WebP', WEBP, { mimeType: 'image/webp', width: 1, height: 1 }],
  ['JPEG', JPEG, { mimeType: 'image/jpeg', width: 7, height: 5 }],
])('a whole %s is an image, a piece of it is not', (_, bytes, expected) => {
  expect(looksLikeImage(bytes)).toBe(true)
  expect(parseImage(bytes)).toEqual(expected)
  for (let length = 0; length < bytes.length - 1; length += 1)
    expect(parseImage(bytes.subarray(0, length))).toBeNull()
})

test('junk behind the first bytes of an image neither throws nor hangs', () => {
  const start = fc.constantFrom(
    GIF.subarray(0, 13),
    WEBP.subarray(0, 16),
    JPEG.subarray(0, 8),
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
  )
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 400 }), (head, junk) => {
      const image = parseImage(Buffer.concat([head, junk]))
      if (image !== null) expect(Math.min(image.width, image.height)).toBeGreaterThan(0)
    }),
    { numRuns: 2000 },
  )
})
