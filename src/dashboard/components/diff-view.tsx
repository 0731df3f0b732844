import { Badge, Checkbox, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { KeyRound } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import { useWords } from '../i18n/language.tsx'
import { type DiffFile, type DiffLine, notesOf, parseDiff, toPairs } from './parse-diff.ts'
import { Untrusted, UntrustedBlock, visibleLine } from './untrusted.tsx'
import { words } from './words.ts'

/** Which parts of a diff are taken, counted from 0 over all of its files. */
export interface DiffParts {
  readonly left: ReadonlySet<number>
  readonly onToggle: (part: number) => void
}

/** A unified diff, file by file. What was added and removed is told by a sign and by brightness, not by hue alone. */
export function DiffView({ diff, parts }: { diff: string; parts?: DiffParts | undefined }) {
  const t = useWords(words)
  const files = useMemo(() => parseDiff(diff), [diff])
  const [view, setView] = useLocalStorage({ key: 'kogu-diff', defaultValue: 'unified' })
  const isWide = useMediaQuery('(min-width: 1200px)', true, { getInitialValueInEffect: false })
  if (files.length === 0) return <Text c="dimmed">{t('unchanged')}</Text>
  const first = files.findIndex(({ path }) => path !== '')
  const hasChoice = isWide && files.some(({ removed }) => removed > 0)
  return (
    <Stack gap="sm">
      {files.map((file, index) => (
        <FileDiff
          // biome-ignore lint/suspicious/noArrayIndexKey: files of one diff, which never moves; one can be named twice
          key={index}
          file={file}
          sides={isWide && view === 'sides'}
          parts={partsFrom(files, index, parts)}
        >
          {index === first && hasChoice && (
            <SegmentedControl
              size="xs"
              aria-label={t('diffView')}
              data={[
                { value: 'unified', label: t('unified') },
                { value: 'sides', label: t('sideBySide') },
              ]}
              value={view}
              onChange={setView}
            />
          )}
        </FileDiff>
      ))}
    </Stack>
  )
}

/** The same parts as one file counts them, from 0. */
function partsFrom(
  files: readonly DiffFile[],
  index: number,
  parts: DiffParts | undefined,
): DiffParts | undefined {
  if (parts === undefined) return undefined
  const first = files.slice(0, index).reduce((sum, { lines }) => sum + lines.filter(isPart).length, 0)
  return {
    left: new Set([...parts.left].map(part => part - first)),
    onToggle: part => parts.onToggle(part + first),
  }
}

function isPart({ kind, text }: DiffLine): boolean {
  return kind === 'hunk' && text.startsWith('@@')
}

interface FileDiffProps {
  readonly file: DiffFile
  readonly sides: boolean
  readonly parts: DiffParts | undefined
  readonly children: ReactNode
}

function FileDiff({ file, sides, parts, children }: FileDiffProps) {
  const t = useWords(words)
  const secrets = file.lines.filter(isSecret).length
  if (file.path === '') return <Said lines={file.lines} />
  return (
    <section className="kogu-sunken" aria-label={visibleLine(file.path)}>
      <Group px="sm" py={6} gap="xs" justify="space-between">
        <Text ff="monospace" size="sm" fw={600}>
          <Untrusted text={file.path} />
        </Text>
        <Group gap={6}>
          {children}
          {notesOf(file).map(note => (
            <Badge key={note} color="gray">
              {t(note)}
            </Badge>
          ))}
          {secrets > 0 && (
            <Badge color="red" leftSection={<KeyRound size={13} aria-hidden />}>
              {t('secretLines', { count: secrets })}
            </Badge>
          )}
          <Badge color="green">+{file.added}</Badge>
          <Badge color="red">−{file.removed}</Badge>
        </Group>
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard */}
      <div style={{ maxHeight: '60vh', overflow: 'auto' }} tabIndex={0}>
        <table className="kogu-diff" data-sides={sides || undefined}>
          <caption className="mantine-visually-hidden" style={HIDDEN}>
            {t('added', { count: file.added })}, {t('removed', { count: file.removed })}
          </caption>
          {sides && (
            <colgroup>
              <col style={{ width: '5ch' }} />
              <col style={{ width: '2ch' }} />
              <col />
              <col style={{ width: '5ch' }} />
              <col style={{ width: '2ch' }} />
              <col />
            </colgroup>
          )}
          <tbody>
            {sides ? (
              <SideRows lines={file.lines} parts={parts} />
            ) : (
              <UnifiedRows lines={file.lines} parts={parts} />
            )}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** What stands before the first file: which entries there are, and what no difference shows. */
function Said({ lines }: Pick<DiffFile, 'lines'>) {
  return <UntrustedBlock text={lines.map(({ text }) => text).join('\n')} />
}

const HIDDEN = {
  position: 'absolute',
  width: 1,
  height: 1,
  overflow: 'hidden',
  clipPath: 'inset(50%)',
} as const

interface RowsProps {
  readonly lines: readonly DiffLine[]
  readonly parts: DiffParts | undefined
}

function UnifiedRows({ lines, parts }: RowsProps) {
  const partOf = partsOf(lines)
  return lines.map((line, index) =>
    line.kind === 'hunk' ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines of one diff, which never moves
      <HunkRow key={index} text={line.text} part={partOf(line)} parts={parts} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines of one diff, which never moves
      <tr key={index} className={line.kind === 'same' ? undefined : line.kind}>
        <td className="number">{line.before}</td>
        <td className="number">{line.after}</td>
        <MarkAndText line={line} />
      </tr>
    ),
  )
}

function SideRows({ lines, parts }: RowsProps) {
  const partOf = partsOf(lines)
  return toPairs(lines).map(([left, right], index) =>
    left?.kind === 'hunk' ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines of one diff, which never moves
      <HunkRow key={index} text={left.text} part={partOf(left)} parts={parts} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines of one diff, which never moves
      <tr key={index}>
        <Side line={left} number={left?.before} />
        <Side line={right} number={right?.after} />
      </tr>
    ),
  )
}

function Side({ line, number }: { line: DiffLine | undefined; number: number | undefined }) {
  const kind = line === undefined || line.kind === 'same' ? undefined : line.kind
  return (
    <>
      <td className={`number ${kind ?? ''}`}>{number}</td>
      {line === undefined ? <td colSpan={2} /> : <MarkAndText line={line} className={kind} />}
    </>
  )
}

function partsOf(lines: readonly DiffLine[]): (line: DiffLine) => number {
  const hunks = lines.filter(isPart)
  return line => hunks.indexOf(line)
}

interface HunkRowProps {
  readonly text: string
  readonly part: number
  readonly parts: DiffParts | undefined
}

function HunkRow({ text, part, parts }: HunkRowProps) {
  const t = useWords(words)
  return (
    <tr className="hunk">
      <td colSpan={6}>
        {parts === undefined || part === -1 ? (
          <Untrusted text={text} />
        ) : (
          <Checkbox
            size="xs"
            py={4}
            label={<Untrusted text={text} />}
            aria-label={t('takePart', { lines: visibleLine(text, 60) })}
            checked={!parts.left.has(part)}
            onChange={() => parts.onToggle(part)}
          />
        )}
      </td>
    </tr>
  )
}

function MarkAndText({ line, className = '' }: { line: DiffLine; className?: string | undefined }) {
  const t = useWords(words)
  return (
    <>
      <td className={`mark ${className}`}>
        {line.kind === 'added' ? '+' : line.kind === 'removed' ? '−' : ''}
      </td>
      <td className={className}>
        <MarkedText line={line} />
        {isSecret(line) && (
          <Badge color="red" ml={8} leftSection={<KeyRound size={13} aria-hidden />}>
            {t('secretLine')}
          </Badge>
        )}
      </td>
    </>
  )
}

/** The server puts such a mark in the place of what looks like a secret, before anybody sees it. */
function isSecret({ kind, text }: DiffLine): boolean {
  return kind === 'added' && text.includes('‹secret')
}

/** The part of a line that differs from the one it takes the place of is underlined. */
function MarkedText({ line: { text, changed } }: { line: DiffLine }) {
  if (changed === undefined) return <Untrusted text={text} most={4_000} />
  const [from, to] = changed
  return (
    <>
      <Untrusted text={text.slice(0, from)} most={4_000} />
      <mark>
        <Untrusted text={text.slice(from, to)} most={4_000} />
      </mark>
      <Untrusted text={text.slice(to)} most={4_000} />
    </>
  )
}
