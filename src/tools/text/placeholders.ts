/**
 * Lines with which a model stands in for text that it did not write out ("rest of the code unchanged"). In a whole-file
 * write they destroy what they stand for.
 */
export function findPlaceholders(
  text: string,
  known: string,
  isShorter: boolean,
): { line: number; text: string }[] {
  const found: { line: number; text: string }[] = []
  let number = 0
  for (let start = 0; start <= text.length; ) {
    number += 1
    const end = endOfLine(text, start)
    const line = mayBegin(text, start, end) ? text.slice(start, end).trim() : ''
    const begin = start
    start = end + 1
    if (line.length < 1 || line.length > 160) continue
    if (isPlaceholder(line) || (isShorter && (isVague(line) || isBareDots(line, text, begin))))
      found.push({ line: number, text: line })
  }
  if (found.length === 0) return found
  // What was there before is meant literally. Looked at last: a large file has many lines, and few have any such.
  const kept = new Set(known.split(/\r?\n/).map(line => line.trim()))
  return found.filter(each => !kept.has(each.text))
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end === -1 ? text.length : end
}

/** Whether the line begins like one. Few do, and cutting a large text into all of its lines takes long. */
function mayBegin(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at)
    if (code > 0x7f) return true
    if (code > 0x20) return BEGINNINGS.has(code)
  }
  return false
}

// Comment signs of the common languages, then dots, brackets and spaces.
const OPENING = String.raw`(?:\/\/+|#+|--+|;+|%+|\/?\*+|<!--|\{\/\*|"""|'''|REM\b|')`
const FILLING = String.raw`[\s.…·\[({<]*`

/** Whatever `OPENING` and `MARKED` can begin with; what is not ASCII may. */
const BEGINNINGS = new Set([...'/#-;%*<{"\'Rr.[('].map(sign => sign.charCodeAt(0)))

/** A comment that says nothing but three dots. */
const DOTS = new RegExp(String.raw`^${OPENING}\s*[[({]?\s*(?:\.{3,}|…)\s*[\])}]?\s*(?:\*+\/\}?|-->)?$`, 'i')

const WHAT =
  "(?:code|file|class|function|method|methods|functions|content|contents|implementation|logic|lines|section|component|imports?|module|tests?|body|text|document|document's|configuration|config|styles?|rules|script|rest|part|parts|everything|it)"
const PHRASES: readonly RegExp[] = [
  new RegExp(
    String.raw`^(?:the |all )?(?:rest|remainder|remaining|other) (?:of )?(?:the |your |this |my )?(?:existing |original |previous )?${WHAT}?\b.{0,40}?(?:unchanged|remains?|stays?|is the same|same as|here|omitted|goes here|as before|\.{3}|…)`,
    'i',
  ),
  new RegExp(
    String.raw`^(?:the |your |keep |all )?(?:the )?(?:existing|previous|original|unchanged) ${WHAT}\b(?: (?:here|unchanged|stays?|remains?|goes here|above|below|as is))?`,
    'i',
  ),
  new RegExp(
    String.raw`^(?:the )?${WHAT} (?:remains? |stays? )?(?:unchanged|the same|as before|omitted(?: for brevity)?)\b`,
    'i',
  ),
  /^(?:same as (?:before|above|the original)|no changes?(?: here| below| above)?|unchanged|omitted for brevity|truncated for brevity|snip(?:ped)?)\b/i,
  /^(?:以下|以降|残り|残りの?コード|既存の?(?:コード|処理|実装|内容)|元の?コード|その他)?(?:は|を)?(?:、)?(?:省略|変更なし|変更無し|同じ|同様|そのまま|略)/,
  /^既存の?(?:コード|処理|実装|内容)/,
  /^(?:이하|나머지|기존|이전|중간)(?:의)? ?(?:코드|부분|내용|구현|로직)?(?:은|는|이|가)? ?(?:생략|동일|그대로|같음|변경 ?없음|유지)/,
  /^기존 ?(?:코드|내용|구현)/,
  /^(?:其余|其他|剩余|现有|原有|此处|以下)(?:的)?(?:代码|内容|部分|实现)?(?:保持)?(?:不变|省略|相同|同上|保持不变)/,
]

/** All that the line says is which text is left out. */
const NAMED = new RegExp(
  String.raw`^(?:the |all |your )?(?:rest|remainder|remaining|other|more|existing|previous|original)(?: of)?(?: the| your| this)?(?: existing| original| previous)? (?:${WHAT}|classes|helpers|handlers|routes|cases|fields|properties|entries|items|options|definitions)\b[\s.…\])}>*/\-]*$`,
  'i',
)

const MARKED = new RegExp(
  String.raw`^(?:${OPENING}${FILLING}|(?:\.{3,}|…)[\s([]*|[\[(<]\s*(?:\.{3,}|…)?\s*)`,
  'i',
)

function isPlaceholder(line: string): boolean {
  const marked = MARKED.exec(line)?.[0]
  if (marked === undefined) return false
  const rest = line.slice(marked.length)
  if (/\.{3}|…/.test(marked) && NAMED.test(rest)) return true
  return isStandIn(rest)
}

function isStandIn(rest: string): boolean {
  const phrase = PHRASES.find(pattern => pattern.test(rest))
  if (phrase === undefined) return false
  // Prose that goes on after the phrase is a comment about something, not a stand-in.
  const end = phrase.exec(rest)?.[0].length ?? 0
  return rest.slice(end).replaceAll(/[\s.…\])}>*/\-!]|for brevity|here|コード|です|。/g, '').length <= 12
}

/** What can be a heading or a plan as well: it stands in for text only where text is missing. */
function isVague(line: string): boolean {
  if (DOTS.test(line)) return true
  const marked = MARKED.exec(line)?.[0]
  if (marked === undefined) return false
  const rest = line.slice(marked.length)
  const todo = /^(?:TODO|FIXME)\b[:\s]*/i.exec(rest)?.[0]
  if (todo !== undefined) return isStandIn(rest.slice(todo.length)) || NAMED.test(rest.slice(todo.length))
  return /[[({]\s*$/.test(marked) && NAMED.test(rest)
}

/** Dots alone on a line. After a colon or a docstring they are the body of a Python function. */
function isBareDots(line: string, text: string, start: number): boolean {
  if (line !== '...' && line !== '…') return false
  const before = text.slice(Math.max(0, start - 400), start).trimEnd()
  return !/(?::|"""|'''|:[ \t]*#[^\n]*)$/.test(before)
}
