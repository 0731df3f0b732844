import { Alert, Anchor } from '@mantine/core'
import { EyeOff } from 'lucide-react'
import { Fragment, useMemo, useState } from 'react'
import { toVisible } from '../../core/visible.ts'
import { useWords } from '../i18n/language.tsx'
import { words } from './words.ts'

// The one way in which the page shows what a model, a tool, a file, an MCP server or a project wrote. React puts it in as text
// and never as markup; this makes what would be invisible or would reorder the line visible.

const ESCAPES = /(⟨U\+[0-9A-F]{4,6}⟩|⟨\d+ spaces⟩)/

/** A part of one of our lines. Line breaks in it are shown, not made. */
export function Untrusted({ text, most = 300 }: { text: string; most?: number }) {
  const shown = useMemo(() => visibleLine(text, most), [text, most])
  return (
    <span className="kogu-inline" dir="ltr">
      <Escapes text={shown} />
    </span>
  )
}

/** The same for where only a text can stand: titles, labels, names of choices. */
export function visibleLine(text: string, most = 300): string {
  const visible = makeVisible(cutGraphemes(text, most)).replaceAll('\n', '⟨U+000A⟩')
  return text.length > most ? `${visible}…` : visible
}

export interface UntrustedBlockProps {
  readonly text: string
  /** What is longer shows its head and tail until somebody asks for all of it. */
  readonly most?: number
  readonly lines?: number
  readonly onExpand?: () => void
  readonly label?: string
}

/** Several lines in a box of their own. */
export function UntrustedBlock({ text, most = 4_096, lines = 400, onExpand, label }: UntrustedBlockProps) {
  const t = useWords(words)
  const [all, setAll] = useState(false)
  const visible = useMemo(() => {
    const kept = all ? text.slice(0, MOST_CHARACTERS) : shorten(text, most)
    const shown = typeof kept === 'string' ? [kept] : kept.parts
    return {
      parts: shown.map(part => limitLines(makeVisible(part), all ? Number.POSITIVE_INFINITY : lines)),
      kept,
    }
  }, [text, all, most, lines])
  const hidden = typeof visible.kept === 'string' ? 0 : visible.kept.hidden
  const cut = visible.parts.some(part => part.left > 0)
  return (
    <section className="kogu-sunken" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard */}
      <pre className="kogu-block" dir="ltr" tabIndex={0} style={BOX}>
        {visible.parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: head and tail, always in this order
          <Fragment key={index}>
            {index > 0 && <strong>{`\n${t('hiddenCharacters', { count: hidden })}\n`}</strong>}
            <Escapes text={part.text} />
          </Fragment>
        ))}
      </pre>
      {(hidden > 0 || cut) && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          p="xs"
          onClick={() => {
            setAll(true)
            onExpand?.()
          }}
        >
          {t('showAll')}
        </Anchor>
      )}
    </section>
  )
}

const BOX = { maxHeight: '60vh', overflow: 'auto' } as const
/** A line of megabytes would stop the browser; what is longer is in the file or in the export. */
const MOST_CHARACTERS = 400_000

/** Says that something in these texts would not have been visible. */
export function EscapeWarning({ texts }: { texts: readonly string[] }) {
  const t = useWords(words)
  if (!texts.some(text => ESCAPES.test(makeVisible(text.slice(0, MOST_CHARACTERS))))) return null
  return (
    <Alert color="yellow" icon={<EyeOff size={18} aria-hidden />} py="xs">
      {t('escapes')}
    </Alert>
  )
}

function Escapes({ text }: { text: string }) {
  return text.split(ESCAPES).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text, in order
      <span key={index} className="kogu-escape">
        {part}
      </span>
    ) : (
      part
    ),
  )
}

/** Half a character has no shape, and what follows could be swallowed by it. */
function makeVisible(text: string): string {
  const whole = text.replaceAll(
    /\p{Surrogate}/gu,
    half => `⟨U+${half.charCodeAt(0).toString(16).toUpperCase()}⟩`,
  )
  return toVisible(whole.replaceAll('\r\n', '\n'))
}

function shorten(text: string, most: number): string | { parts: readonly [string, string]; hidden: number } {
  if (text.length <= most) return text
  const half = Math.floor(most / 2)
  return { parts: [text.slice(0, half), text.slice(-half)], hidden: text.length - 2 * half }
}

function limitLines(text: string, most: number): { text: string; left: number } {
  const all = text.split('\n')
  return all.length <= most
    ? { text, left: 0 }
    : { text: all.slice(0, most).join('\n'), left: all.length - most }
}

/** Never through the middle of what a person sees as one character. */
export function cutGraphemes(text: string, most: number): string {
  if (text.length <= most) return text
  let end = 0
  for (const { index, segment } of new Intl.Segmenter().segment(text.slice(0, most + 64))) {
    if (index + segment.length > most) break
    end = index + segment.length
  }
  return text.slice(0, end)
}
