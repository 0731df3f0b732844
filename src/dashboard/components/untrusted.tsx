import { Alert, Anchor } from '@mantine/core'
import { EyeOff } from 'lucide-react'
import {
  createContext,
  type Dispatch,
  Fragment,
  type SetStateAction,
  useContext,
  useEffect,
  useMemo,
  useState,
} from 'react'
import { toVisible } from '../../core/visible.ts'
import { useWords } from '../i18n/language.tsx'
import { shorten } from './shorten.ts'
import { words } from './words.ts'

// The one way in which the page shows what a model, a tool, a file, an MCP server or a project wrote. React puts it in as text
// and never as markup; this makes what would be invisible or would reorder the line visible.

const ESCAPES = /(⟨U\+[0-9A-F]{4,6}⟩|⟨\d+ spaces⟩)/

/**
 * Counts the texts below it of which something is not shown. What is approved has to be seen whole, and whoever cuts a text
 * would have to remember that; here nothing can be cut without being counted.
 */
export const CutTexts = createContext<Dispatch<SetStateAction<number>> | undefined>(undefined)

export function useCut(isCut: boolean): boolean {
  const count = useContext(CutTexts)
  useEffect(() => {
    if (!isCut || count === undefined) return
    count(before => before + 1)
    return () => count(before => before - 1)
  }, [isCut, count])
  return count !== undefined
}

/** A part of one of our lines. Line breaks in it are shown, not made. */
export function Untrusted({ text, most = 300 }: { text: string; most?: number }) {
  const t = useWords(words)
  const [limit, setLimit] = useState(most)
  const shown = useMemo(() => visibleLine(text, limit), [text, limit])
  const hidden = Math.max(0, text.length - limit)
  const isCounted = useCut(hidden > 0)
  return (
    <span className="kogu-inline" dir="ltr">
      <Escapes text={shown} />
      {isCounted && hidden > 0 && (
        <>
          {' '}
          <Anchor
            component="button"
            type="button"
            inherit
            onClick={() => setLimit(before => before + MOST_CHARACTERS)}
          >
            {t('hiddenCharacters', { count: hidden })} · {t('showAll')}
          </Anchor>
        </>
      )}
    </span>
  )
}

/** The same for where only a text can stand: titles, labels, names of choices. */
export function visibleLine(text: string, most = 300): string {
  const visible = makeVisible(cutGraphemes(text, most)).replaceAll('\n', '⟨U+000A⟩')
  return text.length > most ? `${visible}…` : visible
}

/** Names that others chose, to choose from. */
export function toChoices(names: readonly string[]): { value: string; label: string }[] {
  return names.map(value => ({ value, label: visibleLine(value, 80) }))
}

export interface UntrustedBlockProps {
  readonly text: string
  /** What is longer shows its head and tail until somebody asks for all of it. */
  readonly most?: number
  readonly lines?: number
  readonly label?: string
}

/** Several lines in a box of their own. */
export function UntrustedBlock({ text, most = 4_096, lines = 400, label }: UntrustedBlockProps) {
  const t = useWords(words)
  const [more, setMore] = useState(0)
  const { parts, hidden } = useMemo(() => {
    const kept = shorten(text, most + more, more > 0 ? Number.POSITIVE_INFINITY : lines)
    return { parts: kept.map(makeVisible), hidden: text.length - kept.join('').length }
  }, [text, more, most, lines])
  useCut(hidden > 0)
  return (
    <section className="kogu-sunken" aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard */}
      <pre className="kogu-block" dir="ltr" tabIndex={0} style={BOX}>
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: head and tail, always in this order
          <Fragment key={index}>
            {index > 0 && <strong>{`\n${t('hiddenCharacters', { count: hidden })}\n`}</strong>}
            <Escapes text={part} />
          </Fragment>
        ))}
      </pre>
      {hidden > 0 && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          p="xs"
          onClick={() => setMore(before => before + MOST_CHARACTERS)}
        >
          {t('showAll')}
        </Anchor>
      )}
    </section>
  )
}

const BOX = { maxHeight: '60vh', overflow: 'auto' } as const
/** A line of megabytes at once would stop the browser. */
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

export function makeVisible(text: string): string {
  return toVisible(text.replaceAll('\r\n', '\n'))
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
