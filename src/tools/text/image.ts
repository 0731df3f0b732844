import { crc32 } from 'node:zlib'

export interface Image {
  readonly mimeType: string
  readonly width: number
  readonly height: number
}

/**
 * An image, but only when its structure holds together from the first to the last byte. A page saved as `.png` that
 * reached a model as an image would make every later turn of the conversation fail.
 */
export function parseImage(bytes: Uint8Array): Image | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  try {
    const image =
      parsePng(bytes, view) ?? parseJpeg(bytes, view) ?? parseGif(bytes, view) ?? parseWebp(bytes, view)
    return image !== null && image.width > 0 && image.height > 0 ? image : null
  } catch (error) {
    // Read past the end: cut off.
    if (error instanceof RangeError) return null
    throw error
  }
}

/** By the first bytes: whether it is worth reading the rest. */
export function looksLikeImage(head: Uint8Array): boolean {
  const start = ascii(head, 0, 12)
  return (
    start.startsWith('\x89PNG\r\n\x1a\n') ||
    start.startsWith('\xff\xd8\xff') ||
    start.startsWith('GIF8') ||
    (start.startsWith('RIFF') && start.endsWith('WEBP'))
  )
}

function parsePng(bytes: Uint8Array, view: DataView): Image | null {
  if (!ascii(bytes, 0, 8).startsWith('\x89PNG\r\n\x1a\n')) return null
  let size: Image | null = null
  let hasData = false
  for (let at = 8; ; ) {
    const length = view.getUint32(at)
    const type = ascii(bytes, at + 4, at + 8)
    if (view.getUint32(at + 8 + length) !== crc32(bytes.subarray(at + 4, at + 8 + length))) return null
    if (size === null) {
      if (type !== 'IHDR' || length !== 13) return null
      size = { mimeType: 'image/png', width: view.getUint32(at + 8), height: view.getUint32(at + 12) }
    }
    if (type === 'IDAT') hasData = true
    if (type === 'IEND') return hasData ? size : null
    at += 12 + length
  }
}

function parseJpeg(bytes: Uint8Array, view: DataView): Image | null {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return null
  let size: Image | null = null
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at += 1
      continue
    }
    // Start of scan: compressed data up to the end marker, which some cameras follow with padding.
    if (marker === 0xda) return size !== null && endsWithMarker(bytes) ? size : null
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) {
      size = { mimeType: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    }
    at += 2 + view.getUint16(at + 2)
  }
}

function endsWithMarker(bytes: Uint8Array): boolean {
  const tail = bytes.subarray(-4096)
  const at = tail.lastIndexOf(0xd9)
  return at > 0 && tail[at - 1] === 0xff
}

function parseGif(bytes: Uint8Array, view: DataView): Image | null {
  const version = ascii(bytes, 0, 6)
  if (version !== 'GIF87a' && version !== 'GIF89a') return null
  const flags = view.getUint8(10)
  let at = 13 + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  let frames = 0
  for (;;) {
    const block = view.getUint8(at)
    if (block === 0x3b) {
      if (frames === 0) return null
      return { mimeType: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) }
    }
    if (block === 0x21) at += 2
    else if (block === 0x2c) {
      const local = view.getUint8(at + 9)
      at += 11 + (local & 0x80 ? 3 * 2 ** ((local & 7) + 1) : 0)
      frames += 1
    } else return null
    for (let length = view.getUint8(at); length > 0; length = view.getUint8(at)) at += 1 + length
    at += 1
  }
}

function parseWebp(bytes: Uint8Array, view: DataView): Image | null {
  if (ascii(bytes, 0, 4) !== 'RIFF' || ascii(bytes, 8, 12) !== 'WEBP') return null
  const size = view.getUint32(4, true) + 8
  if (size > bytes.length || view.getUint32(16, true) + 20 > bytes.length) return null
  const mimeType = 'image/webp'
  switch (ascii(bytes, 12, 16)) {
    case 'VP8 ':
      if (ascii(bytes, 23, 26) !== '\x9d\x01\x2a') return null
      return { mimeType, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    case 'VP8L': {
      if (view.getUint8(20) !== 0x2f) return null
      const packed = view.getUint32(21, true)
      return { mimeType, width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X': {
      const three = (at: number): number => view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
      return { mimeType, width: three(24) + 1, height: three(27) + 1 }
    }
    default:
      return null
  }
}

function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to))
}
