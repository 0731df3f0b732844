import { Badge, Group, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { useWords } from '../i18n/language.tsx'
import { type DiffFile, type DiffLine, parseDiff } from './parse-diff.ts'
import { Untrusted, visibleLine } from './untrusted.tsx'
import { words } from './words.ts'

/** A unified diff, file by file. What was added and removed is told by a sign and by brightness, not by hue alone. */
export function DiffView({ diff }: { diff: string }) {
  const t = useWords(words)
  const files = useMemo(() => parseDiff(diff), [diff])
  if (files.length === 0) return <Text c="dimmed">{t('unchanged')}</Text>
  return (
    <Stack gap="sm">
      {files.map(file => (
        <FileDiff key={file.path} file={file} />
      ))}
    </Stack>
  )
}

function FileDiff({ file }: { file: DiffFile }) {
  const t = useWords(words)
  return (
    <section className="kogu-sunken" aria-label={visibleLine(file.path)}>
      <Group px="sm" py={6} gap="xs" justify="space-between">
        <Text ff="monospace" size="sm" fw={600}>
          <Untrusted text={file.path} />
        </Text>
        <Group gap={6}>
          <Badge color="green">+{file.added}</Badge>
          <Badge color="red">−{file.removed}</Badge>
        </Group>
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard */}
      <div style={{ maxHeight: '60vh', overflow: 'auto' }} tabIndex={0}>
        <table className="kogu-diff">
          <caption className="mantine-visually-hidden" style={HIDDEN}>
            {t('added', { count: file.added })}, {t('removed', { count: file.removed })}
          </caption>
          <tbody>
            {file.lines.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of one diff, which never moves
              <Line key={index} line={line} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const HIDDEN = {
  position: 'absolute',
  width: 1,
  height: 1,
  overflow: 'hidden',
  clipPath: 'inset(50%)',
} as const

function Line({ line }: { line: DiffLine }) {
  if (line.kind === 'hunk') {
    return (
      <tr className="hunk">
        <td colSpan={4}>
          <Untrusted text={line.text} />
        </td>
      </tr>
    )
  }
  return (
    <tr className={line.kind === 'same' ? undefined : line.kind}>
      <td className="number">{line.before}</td>
      <td className="number">{line.after}</td>
      <td className="mark">{line.kind === 'added' ? '+' : line.kind === 'removed' ? '−' : ''}</td>
      <td>
        <MarkedText line={line} />
      </td>
    </tr>
  )
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
