import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeDocument, encodeText } from './codec.ts'
import { detectFormat } from './format.ts'

test.each([
  ['koi8-r', 'Привет, мир! Это файл настроек.\n'],
  ['big5', '這是一個中文的設定檔，請不要修改。我們在這裡。\n'],
  ['windows-1253', 'Καλημέρα κόσμε, αυτό είναι ένα αρχείο.\n'],
  ['windows-1254', 'Türkçe için ışık ve gökyüzü değişiyor, şimdi\n'],
  ['windows-874', 'สวัสดีชาวโลก นี่คือไฟล์\n'],
  ['utf-16be', 'no byte order mark\nat all\n'],
])('%s is recognised', (encoding, text) => {
  expect(detectFormat(encodeText(text, encoding) ?? new Uint8Array())?.encoding).toBe(encoding)
})

test('a few foreign letters in ASCII are a guess, and a guess is not certain', () => {
  const format = detectFormat(Buffer.from('x = "\xa5\xb1\xdf"\n', 'latin1'))
  expect(format).toMatchObject({ certain: false })
})

test.each([
  ['hello \xff\xfe world\n', false],
  ['hello \xff, world \xfe\n', false],
  ['name: caf\xc3\xa9 \xff ok\nplain \xfe here\n', true],
  ['\xe6\x97\xa5\xe6\x9c\xac \xff \xfe \xfd \xfc\n', true],
])('one or two bytes that are not UTF-8 do not make %j a text of another encoding', (text, certain) => {
  expect(detectFormat(Buffer.from(text, 'latin1'))).toEqual({
    encoding: 'utf-8',
    bomLength: 0,
    certain,
    damaged: true,
  })
})

test.each([
  ['windows-1252', 'Grüße\n'],
  ['windows-1252', '„Spaß“\n'],
  ['windows-1252', 'un café\n'],
  ['windows-1251', 'это строка\n'],
  ['windows-1251', '«это» и «она» пишут\n'],
  ['euc-kr', '찾기\n'],
])('few letters of %s are still recognised: %s', (encoding, text) => {
  expect(detectFormat(encodeText(text, encoding) ?? new Uint8Array())?.encoding).toBe(encoding)
})

test('compressed and executable content is not text', () => {
  const noise = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * i * 31 + i * 17) % 251))
  expect(detectFormat(noise)).toBeNull()
  expect(detectFormat(Buffer.from('text with a NUL \0 in it\n'))).toBeNull()
  expect(detectFormat(Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0]))).toBeNull()
})

test('any bytes are detected and decoded without an error, and offsets lead to the bytes of the text', () => {
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.string({ unit: 'grapheme', maxLength: 100 }).map(text => Buffer.from(text)),
    fc
      .tuple(
        fc.constantFrom('shift_jis', 'euc-jp', 'euc-kr', 'gbk', 'big5'),
        fc.string({ unit: fc.constantFrom(...'日本語の한국어中文的這abc\n') }),
      )
      .map(([encoding, text]) => encodeText(text, encoding) ?? Buffer.from(text)),
  )
  fc.assert(
    fc.property(anything, fc.nat(), (bytes, at) => {
      const format = detectFormat(bytes)
      const document = format === null ? null : decodeDocument(bytes, format)
      if (format === null || document === null) return
      const index = Array.from(document.text)
        .slice(0, at % (document.text.length + 1))
        .join('').length
      const offsets = document.byteOffsets([index])
      // What could not be decoded has no bytes of its own to lead to; such a file is never rewritten.
      if (offsets === null || format.damaged || document.text.includes('\uFFFD')) return
      const head = decodeDocument(bytes.subarray(0, offsets[0]), format)
      expect(head?.text).toBe(document.text.slice(0, index))
    }),
    { numRuns: 3000 },
  )
})
