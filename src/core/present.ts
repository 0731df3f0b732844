import type { Call, Progress } from './call.ts'
import type { Decision } from './decision.ts'
import type { ToolError } from './errors.ts'
import { LIMITS } from './limits.ts'
import type { Redactor } from './redact.ts'
import type { Label, ToolOutput, Verdict } from './tool.ts'
import { escapeControls } from './visible.ts'

// The one way out. Whatever a tool says, its successes, failures and progress, leaves through here: bounded, without
// secrets, with control characters that can be seen, and labelled with where it came from. File text is the exception:
// it stays as it is, byte by byte, because edits quote it; doors that show it to people escape it themselves.

/** What a tool returned, as the caller gets it. Hooks have seen it before: nothing goes around this. */
export function presentOutput(redactor: Redactor, output: ToolOutput, progress: Progress): ToolOutput {
  const label = labelFor(progress, redactor, output.label)
  const isRaw = isFileText(progress, label)
  const text = isRaw ? output.text : clean(redactor, output.text)
  const whole = isRaw ? output.data : escapeData(redactor.value(output.data))
  const data = isTooLong(whole) ? undefined : whole
  const images = output.images === undefined ? undefined : boundImages(output.images)
  const left = [
    ...(data === whole ? [] : ['data']),
    ...(images?.length === output.images?.length ? [] : ['images']),
  ]
  const note = left.length === 0 ? '' : `\n[Left out, too large or unusable: ${left.join(', ')}]`
  return {
    text: cutMiddle(text, LIMITS.resultLength) + note,
    ...(data === undefined ? {} : { data }),
    ...(images === undefined ? {} : { images }),
    ...(output.verdict === undefined ? {} : { verdict: presentVerdict(redactor, output.verdict) }),
    label,
  }
}

function presentVerdict(redactor: Redactor, { is, why }: Verdict): Verdict {
  return { is, why: cutMiddle(clean(redactor, why), LIMITS.errorLength) }
}

function clean(redactor: Redactor, text: string): string {
  return escapeControls(redactor.text(text))
}

/** Those that are images and not too large, the first of them. */
function boundImages(images: NonNullable<ToolOutput['images']>): NonNullable<ToolOutput['images']> {
  let left: number = LIMITS.imagesLength
  return images.filter(({ base64, mimeType }) => {
    if (base64.length > Math.min(left, LIMITS.imageLength) || !IMAGE_TYPE.test(mimeType)) return false
    left -= base64.length
    return true
  })
}

const IMAGE_TYPE = /^image\/[\w.+-]{1,100}$/

/** Of a tool that nobody has: the caller's own words. */
export function presentName(redactor: Redactor, name: string): string {
  return clean(redactor, name).slice(0, LONGEST_NAME)
}

const LONGEST_NAME = 200

/** A reason may quote the input, a reviewer or a program of the person. */
export function presentDecision(
  redactor: Redactor,
  { decision }: Progress,
  error: PresentedError | null,
): Decision {
  const unjudged = error?.message ?? 'The call was not judged.'
  if (decision === undefined) return { outcome: 'deny', by: 'validation', ref: null, reason: unjudged }
  const reason = clean(redactor, decision.reason)
  return reason === decision.reason ? decision : { ...decision, reason }
}

export interface PresentedError {
  readonly code: ToolError['code']
  readonly message: string
  readonly hint: string | null
}

/** What went wrong, in words that may be somebody else's. */
export function presentError(redactor: Redactor, { code, message, hint }: ToolError): PresentedError {
  const shown = (text: string): string => cutMiddle(clean(redactor, text), LIMITS.errorLength)
  return { code, message: shown(message), hint: hint === undefined ? null : shown(hint) }
}

/** A failure of a foreign tool is foreign text too. */
export function labelOfFailure(redactor: Redactor, progress: Progress): Label | null {
  const isForeign = progress.entry !== undefined && progress.entry.tool.isPartOfKogu !== true
  return isForeign && progress.permit !== undefined ? labelFor(progress, redactor, undefined) : null
}

/** Live output, line by line, so that no secret slips through in two halves. */
export function presentProgress(redactor: Redactor, { onProgress }: Call) {
  if (onProgress === undefined) return { write: (): void => undefined, end: (): void => undefined }
  let held = ''
  let left: number = LIMITS.progressLength
  const emit = (text: string): void => {
    if (text === '' || left <= 0) return
    const shown = text.slice(0, left)
    left -= shown.length
    onProgress(escapeControls(shown) + (left > 0 ? '' : '\n[Further output is not shown live.]\n'))
  }
  return {
    write(text: string): void {
      if (left <= 0) return
      held += text
      const end = wholeLines(held)
      emit(redactor.text(held.slice(0, end)))
      held = held.slice(end)
      if (held.length <= LIMITS.progressHeld) return
      // Redacted before it is cut: a secret that is whole is gone by then, and one that has only begun is in the rest.
      const clean = redactor.text(held)
      held = clean.slice(-LIMITS.progressHeld)
      emit(clean.slice(0, -LIMITS.progressHeld))
    },
    end(): void {
      emit(redactor.text(held))
      held = ''
    },
  }
}

/** Where the last whole line ends; a private key, which has many, is one. */
function wholeLines(text: string): number {
  const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1
  const key = text.lastIndexOf('-----BEGIN ', end)
  return key > text.lastIndexOf('-----END ', end) ? key : end
}

/** Kept with the run, so its source holds no secret: a command line may have one, and a cut would leave its beginning. */
function labelFor(progress: Progress, redactor: Redactor, given: Label | undefined): Label {
  const label = findLabel(progress, given)
  if (label.source === undefined) return label
  return { ...label, source: clean(redactor, label.source).slice(0, LONGEST_SOURCE) }
}

const LONGEST_SOURCE = 500

function findLabel({ entry, access = [] }: Progress, given: Label | undefined): Label {
  const isOurs = entry?.tool.isPartOfKogu === true
  const label: Label =
    given ??
    entry?.tool.label ??
    (isOurs ? { origin: 'workspace', trusted: true } : { origin: 'other', trusted: false })
  if (label.source !== undefined) return label
  const touched = access.map(item => {
    if (item.kind === 'network') return hostOf(item.url)
    if (item.kind === 'execute') return item.command
    return 'path' in item ? item.path : undefined
  })
  const source = touched.find(each => each !== undefined)
  const isOfProvider = source === undefined || label.origin === 'other' || label.origin === 'mcp'
  return { ...label, source: isOfProvider ? (entry?.provider.id ?? 'unknown') : source }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}

function isFileText({ entry }: Progress, { origin }: Label): boolean {
  return entry?.tool.isPartOfKogu === true && (origin === 'workspace' || origin === 'outside')
}

function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text
  const half = Math.floor(most / 2)
  // Never between the halves of a character.
  const head = text
    .slice(0, half)
    .toWellFormed()
    .replace(/\uFFFD$/, '')
  const tail = text
    .slice(-half)
    .toWellFormed()
    .replace(/^\uFFFD/, '')
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`
}

function escapeData(value: unknown): unknown {
  if (typeof value === 'string') return escapeControls(value)
  // JSON has none, and whoever writes the result as JSON would fail.
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(escapeData)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [escapeControls(key), escapeData(item)]),
  )
}

function isTooLong(value: unknown): boolean {
  let left = LIMITS.resultLength
  const count = (part: unknown): void => {
    left -= 1
    if (typeof part === 'string') left -= part.length
    else if (Array.isArray(part)) {
      for (const item of part) if (left > 0) count(item)
    } else if (typeof part === 'object' && part !== null) {
      for (const [key, item] of Object.entries(part)) {
        left -= key.length
        if (left > 0) count(item)
      }
    }
  }
  count(value)
  return left <= 0
}
