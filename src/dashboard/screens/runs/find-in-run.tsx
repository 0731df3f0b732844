import { ActionIcon, Group, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { ChevronDown, ChevronUp, Search } from 'lucide-react'
import { useDeferredValue, useMemo, useState } from 'react'
import { useGet } from '../../api/api.ts'
import { isEnter } from '../../components/is-enter.ts'
import { useWords } from '../../i18n/language.tsx'
import { inAddress, useUrlState } from '../../routes.ts'
import { words as steerWords } from './steer/words.ts'
import type { Item } from './transcript-items.ts'
import { words } from './words.ts'

interface Find {
  readonly text: string
  /** Places in the list, in order. */
  readonly hits: readonly number[]
  /** How often the text is there, also several times in one place. */
  readonly count: number
  /** Which of them is looked at. */
  readonly at: number
  /** The place of that hit. */
  readonly place: number | undefined
  setText(text: string): void
  go(step: 1 | -1): number | undefined
}

/** Looks through all of a run, also what is not drawn; through outputs, which are not loaded, on the server. */
export function useFind(run: string, items: readonly Item[]): Find {
  const [text, setText] = useUrlState('find')
  const [at, setAt] = useState(0)
  const [asked] = useDebouncedValue(text, 300)
  const { data: outputs } = useGet<{ call: string; hits: number }[]>(
    'runs',
    `/api/runs/${encodeURIComponent(run)}/find?text=${inAddress(asked)}`,
    { enabled: asked !== '' },
  )
  const wanted = useDeferredValue(text).toLowerCase()
  const { hits, count } = useMemo(() => {
    const found = asked === text ? outputs : []
    return findHits(items, wanted, new Map(found?.map(each => [each.call, each.hits])))
  }, [items, wanted, outputs, asked, text])
  const current = Math.min(at, Math.max(0, hits.length - 1))
  return {
    text,
    hits,
    count,
    at: current,
    place: hits[current],
    setText(value) {
      setAt(0)
      setText(value, { replace: true })
    },
    go(step) {
      if (hits.length === 0) return undefined
      const next = (current + step + hits.length) % hits.length
      setAt(next)
      return hits[next]
    },
  }
}

/** Where a text in lower case is, and how often. `outputs`: how often by call. */
export function findHits(
  items: readonly Item[],
  wanted: string,
  outputs: ReadonlyMap<string, number>,
): { hits: number[]; count: number } {
  if (wanted === '') return { hits: [], count: 0 }
  const counts = items.map(
    item =>
      textOf(item).split(wanted).length -
      1 +
      (item.kind === 'call' ? (outputs.get(item.record ?? '') ?? 0) : 0),
  )
  return {
    hits: counts.flatMap((each, index) => (each > 0 ? [index] : [])),
    count: counts.reduce((sum, each) => sum + each, 0),
  }
}

/** Everything of an item that a person can read, in lower case. */
function textOf(item: Item): string {
  if (item.kind === 'note') return JSON.stringify(item.event).toLowerCase()
  if (item.kind === 'call')
    return `${item.tool} ${JSON.stringify(item.input)} ${item.error?.message ?? ''}`.toLowerCase()
  return item.text.toLowerCase()
}

export function FindInRun({ find, onGo }: { find: Find; onGo: (place: number) => void }) {
  const t = useWords(words)
  const steer = useWords(steerWords)
  const go = (step: 1 | -1): void => {
    const place = find.go(step)
    if (place !== undefined) onGo(place)
  }
  return (
    <Group gap="xs" mb="xs">
      <TextInput
        size="xs"
        w={260}
        data-filter
        aria-label={t('find')}
        placeholder={t('find')}
        leftSection={<Search size={14} aria-hidden />}
        value={find.text}
        onChange={event => find.setText(event.currentTarget.value)}
        onKeyDown={event => {
          if (isEnter(event.nativeEvent)) go(event.shiftKey ? -1 : 1)
        }}
      />
      {find.text !== '' && (
        <>
          <ActionIcon variant="default" aria-label={t('previous')} onClick={() => go(-1)}>
            <ChevronUp size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon variant="default" aria-label={t('nextHit')} onClick={() => go(1)}>
            <ChevronDown size={16} aria-hidden />
          </ActionIcon>
          <Text size="sm" role="status">
            {find.hits.length === 0 ? t('noHits') : t('hits', { at: find.at + 1, count: find.hits.length })}
            {find.count > find.hits.length && ` · ${steer('allHits', { count: find.count })}`}
          </Text>
        </>
      )}
    </Group>
  )
}
