import { Group, Text, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { useWords } from '../i18n/language.tsx'
import classes from './bar-chart.module.css'
import { Untrusted } from './untrusted.tsx'
import { words } from './words.ts'

interface BarPart {
  readonly key: string
  readonly value: number
}

export interface Bar {
  readonly label: string
  readonly parts: readonly BarPart[]
}

export interface BarChartProps {
  readonly label: string
  readonly bars: readonly Bar[]
  readonly format: (value: number) => string
  /** Names of parts, in the order of the stack; a name can be something that somebody else wrote. */
  readonly keys: readonly string[]
}

const HEIGHT = 180
const PATTERNS = 6

/**
 * Stacked bars. Parts differ in colour and in pattern; every bar can be reached by keyboard and says its values; the legend
 * switches parts off.
 */
export function BarChart({ label, bars, keys, format }: BarChartProps) {
  const t = useWords(words)
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const shown = keys.filter(key => !hidden.has(key))
  const heightOf = (bar: Bar): number =>
    bar.parts.reduce((sum, { key, value }) => sum + (hidden.has(key) ? 0 : value), 0)
  const most = Math.max(...bars.map(heightOf), 0)
  if (most === 0 && hidden.size === 0)
    return (
      <Text c="dimmed" py="lg" ta="center">
        {t('noData')}
      </Text>
    )
  const toggle = (key: string): void =>
    setHidden(before => {
      const next = new Set(before)
      if (!next.delete(key)) next.add(key)
      return next
    })
  return (
    <figure className={classes.figure} aria-label={label}>
      <Text size="xs" c="dimmed" aria-hidden>
        {format(most)}
      </Text>
      <ul className={classes.bars} style={{ height: HEIGHT }}>
        {bars.map(bar => {
          const parts = shown.flatMap(key => bar.parts.find(part => part.key === key) ?? [])
          const said = parts.map(({ key, value }) => `${key} ${format(value)}`).join(', ')
          return (
            <li key={bar.label} className={classes.column}>
              <div
                className={classes.bar}
                // biome-ignore lint/a11y/noNoninteractiveTabindex: its values are read out when it is reached
                tabIndex={0}
                role="img"
                aria-label={`${bar.label}: ${said}`}
                title={`${bar.label}\n${said}`}
              >
                {parts.map(({ key, value }) => (
                  <span
                    key={key}
                    className={classes.part}
                    data-pattern={keys.indexOf(key) % PATTERNS}
                    style={{ height: most === 0 ? 0 : (value / most) * HEIGHT }}
                  />
                ))}
              </div>
            </li>
          )
        })}
      </ul>
      <Labels bars={bars} />
      {keys.length > 1 && (
        <Group gap="xs" component="figcaption">
          {keys.map((key, index) => (
            <UnstyledButton
              key={key}
              className={classes.key}
              aria-pressed={!hidden.has(key)}
              onClick={() => toggle(key)}
            >
              <span className={classes.swatch} data-pattern={index % PATTERNS} aria-hidden />
              <Untrusted text={key} most={60} />
            </UnstyledButton>
          ))}
        </Group>
      )}
    </figure>
  )
}

/** Each bar has its name where there is room; otherwise the first and the last. */
function Labels({ bars }: { bars: readonly Bar[] }) {
  if (bars.length <= MOST_LABELS)
    return (
      <div className={classes.labels} aria-hidden>
        {bars.map(({ label }) => (
          <span key={label}>
            <Untrusted text={label} most={40} />
          </span>
        ))}
      </div>
    )
  return (
    <Group justify="space-between" gap="xs" aria-hidden>
      {[bars[0], bars.at(-1)].map(bar => (
        <Text size="xs" c="dimmed" key={bar?.label}>
          <Untrusted text={bar?.label ?? ''} most={40} />
        </Text>
      ))}
    </Group>
  )
}

const MOST_LABELS = 8
