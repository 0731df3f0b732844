/**
 * Which encoding older than UTF-8 a text is in, from the letters that are common in the languages that use it. A wrong
 * guess shows wrong letters but harms nothing: edits only replace the bytes that matched, and new text that is not ASCII
 * is written only when the guess is certain.
 */
export interface LegacyGuess {
  readonly encoding: string
  readonly certain: boolean
  /** One or two letters, of which none is common or which cannot be a word: any byte is a letter in some encoding. */
  readonly isWeak: boolean
  /** Every byte is a character, so that nothing is ever invalid. */
  readonly isSingleByte: boolean
}

interface Candidate {
  readonly encoding: string
  readonly common: ReadonlySet<string>
  /** `runs`: letters of this script stand together. `single`: they stand between ASCII letters. `any`: ideographs. */
  readonly shape: 'runs' | 'single' | 'any'
}

const JAPANESE = `${range(0x3041, 0x3096)}${range(0x30a1, 0x30fe)}、。「」・日本人年大出中学生会国一上月分時間行見者部長社内事自前地後同文用動作定開手表示方法問題`
const KOREAN =
  '이다는에의을가고하를도로기리지은한사서인나어라자아시해일그대으부정면들보수만장제니여있것했전상구과원안주스트적성음'
const SIMPLIFIED =
  '的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长件数据设置请注意使使用户名字，。、：；！？（）“”'
const TRADITIONAL =
  '的一是不了在人有我他這中大來上國個到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可她裡後小麼心多天而能好都然沒日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同三已老從動兩長件數據設置請注意使用戶名字，。、：；！？（）「」'
// Small letters only: KOI8-R read as windows-1251, or the reverse, turns them into capitals.
const CYRILLIC = 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґ'

const MULTI_BYTE: readonly Candidate[] = [
  { encoding: 'shift_jis', common: new Set(JAPANESE), shape: 'any' },
  { encoding: 'euc-jp', common: new Set(JAPANESE), shape: 'any' },
  { encoding: 'euc-kr', common: new Set(KOREAN), shape: 'any' },
  { encoding: 'gbk', common: new Set(SIMPLIFIED), shape: 'any' },
  { encoding: 'big5', common: new Set(TRADITIONAL), shape: 'any' },
]

const WESTERN: ReadonlySet<string> = new Set('éèàùâêîôûçëïüöäßñáíóúãõåæøÉÈÀÇÖÄÜÅØÑ°§«»’‘“”„‚‹›–—…€£©®·¿¡º')

const SINGLE_BYTE: readonly Candidate[] = [
  {
    encoding: 'windows-1252',
    common: WESTERN,
    shape: 'single',
  },
  { encoding: 'windows-1250', common: new Set('ąćęłńóśźżáčďéěíňřšťúůýžőűăţşöüŁŚŻŠČŽŘ'), shape: 'single' },
  { encoding: 'windows-1254', common: new Set('ığşçöüİĞŞÇÖÜ'), shape: 'single' },
  { encoding: 'windows-1251', common: new Set(CYRILLIC), shape: 'runs' },
  { encoding: 'koi8-r', common: new Set(CYRILLIC), shape: 'runs' },
  { encoding: 'windows-1253', common: new Set('αεηιοστνρκλπμυωςάέήίόύώγδθφχβξζψ'), shape: 'runs' },
  { encoding: 'windows-1255', common: new Set(range(0x05d0, 0x05ea)), shape: 'runs' },
  { encoding: 'windows-1256', common: new Set(range(0x0621, 0x064a)), shape: 'runs' },
  { encoding: 'windows-874', common: new Set(range(0x0e01, 0x0e4c)), shape: 'runs' },
]

export function guessLegacy(bytes: Uint8Array): LegacyGuess | null {
  const sample = sampleOf(bytes)
  const multi = rank(sample, MULTI_BYTE)
  const [best, second] = multi
  if (best !== undefined && best.score >= 0.2) {
    const clear = best.score >= 1.5 * (second?.score ?? 0)
    return {
      encoding: best.encoding,
      certain: clear && best.characters >= 8,
      isWeak: false,
      isSingleByte: false,
    }
  }
  const single = rank(sample, SINGLE_BYTE)
  const top = single[0]
  if (top === undefined) return null
  const isShort = top.characters < 3
  if (top.score < 0.3)
    return { encoding: 'windows-1252', certain: false, isWeak: isShort, isSingleByte: true }
  const isClear = top.score >= 0.6 && top.score >= 1.15 * (single[1]?.score ?? 0)
  // The most common one by far needs less evidence: one accented letter among ASCII.
  const isEnough = top.encoding === 'windows-1252' || top.characters >= 8
  const isWeak = isShort && (top.shape === 'runs' || top.score < 0.6)
  // The letters of 'Grüße' stand together, and are too few for a word of another script.
  if (isWeak && isWestern(sample))
    return { encoding: 'windows-1252', certain: false, isWeak: false, isSingleByte: true }
  return { encoding: top.encoding, certain: isClear && isEnough, isWeak, isSingleByte: true }
}

function isWestern(sample: Uint8Array): boolean {
  const letters = (decodeStrictly(sample, 'windows-1252') ?? '').match(/[^\0-\x7f]/gu) ?? []
  return letters.every(letter => WESTERN.has(letter))
}

interface Ranked {
  encoding: string
  shape: Candidate['shape']
  score: number
  characters: number
}

function rank(sample: Uint8Array, candidates: readonly Candidate[]): Ranked[] {
  const ranked: Ranked[] = []
  for (const candidate of candidates) {
    const text = decodeStrictly(sample, candidate.encoding)
    if (text !== null) {
      const { encoding, shape } = candidate
      ranked.push({ encoding, shape, ...score(text, candidate) })
    }
  }
  return ranked.sort((a, b) => b.score - a.score)
}

function decodeStrictly(sample: Uint8Array, encoding: string): string | null {
  try {
    // `stream`: the sample may end inside a character.
    return new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true })
  } catch {
    // Not valid in this encoding, or a platform without it: not a candidate.
    return null
  }
}

function score(text: string, { common, shape }: Candidate): { score: number; characters: number } {
  let characters = 0
  let points = 0
  let previous = 0
  const codes = Array.from(text, character => character.codePointAt(0) ?? 0)
  codes.forEach((code, index) => {
    if (code >= 0x80) {
      characters += 1
      if (isUnlikely(code)) points -= 1
      else if (common.has(String.fromCodePoint(code))) {
        const alone = previous < 0x80 && (codes[index + 1] ?? 0) < 0x80
        if (shape === 'any' || (shape === 'single') === alone) points += 1
      }
    }
    previous = code
  })
  return { score: characters === 0 ? 0 : points / characters, characters }
}

/** C1 controls, half-width katakana, private use: what wrong decoding produces and nobody writes. */
function isUnlikely(code: number): boolean {
  return (
    code < 0xa0 || (code >= 0xff61 && code <= 0xff9f) || (code >= 0xe000 && code <= 0xf8ff) || code === 0xfffd
  )
}

/** Up to 16 KB from the line where the first byte above 0x7F stands; whole lines keep multi-byte characters whole. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex(byte => byte >= 0x80)
  const start = first <= 0 ? 0 : bytes.lastIndexOf(0x0a, first) + 1
  return bytes.subarray(start, start + 16_384)
}

function range(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index)).join('')
}
