import { SimpleGrid } from '@mantine/core'
import { Tile } from '../../components/tile.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { knownCost, type Summary, TOKEN_KINDS, tokensOf } from './types.ts'
import { words } from './words.ts'

export function Tiles({ totals }: { totals: Summary }) {
  const t = useWords(words)
  const format = useFormat()
  const tokens = tokensOf(totals)
  const read = totals.input + totals.cached + totals.cacheWrite
  const { p50Ms, p95Ms, runs } = totals
  const cost = knownCost(totals)
  return (
    <SimpleGrid cols={{ base: 2, md: 5 }} spacing="sm">
      <Tile label={t('cost')} value={format.money(cost, t('unknown'))}>
        {totals.unknown > 0 && t('unknownPrice', { count: totals.unknown })}
      </Tile>
      <Tile label={t('tokens')} value={format.number(tokens)}>
        {TOKEN_KINDS.filter(kind => totals[kind] > 0)
          .map(kind => `${t(kind)} ${format.number(totals[kind])}`)
          .join(' · ')}
      </Tile>
      <Tile label={t('runs')} value={format.number(runs)}>
        {runs > 0 && `${t('perRun')}: ${format.money(cost === null ? null : cost / runs, t('unknown'))}`}
      </Tile>
      <Tile label={t('cacheRate')} value={read === 0 ? '–' : format.percent(totals.cached / read)} />
      <Tile label={t('latency')} value={p50Ms === null ? '–' : format.duration(p50Ms)}>
        {p50Ms !== null &&
          p95Ms !== null &&
          t('latencyIs', { p50: format.duration(p50Ms), p95: format.duration(p95Ms) })}
      </Tile>
    </SimpleGrid>
  )
}
