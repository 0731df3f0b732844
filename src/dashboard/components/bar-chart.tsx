import { Group, Text, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { useWords } from '../i18n/language.tsx'
import classes from './bar-chart.module.css'
import { Untrusted, visibleLine } from './untrusted.tsx'
import { words } from './words.ts'

interface BarPart {
  readonly key: string
  readonly value: number
  /** What is read out instead of the value, where a part is only the rest of a whole. */
  readonly said?: string
}

export interface Bar {
  readonly label: string
  readonly parts: readonly BarPart[]
  /** What cannot be measured: a cap on top of the bar, whatever its height. */
  readonly unmeasured?: string
}

export interface BarChartProps {
  readonly label: string
  readonly bars: readonly Bar[]
  readonly format: (value: number) => string
  /** Names of parts, in the order of the stack; a name can be something that somebody else wrote. */
  readonly keys: readonly string[]
  /** Names the caps in the legend. */
  readonly unmeasured?: string
  /** Said between the axes when there is nothing to draw. */
  readonly empty?: string
}

const HEIGHT = 180
const CAP = 10
const PATTERNS = 6

/**
 * Stacked bars. Parts differ in colour and in pattern; every bar can be reached by keyboard and says its values; the legend
 * switches parts off.
 */
export function BarChart({ label, bars, keys, format, unmeasured, empty }: BarChartProps) {
  const t = useWords(words)
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const shown = keys.filter(key => !hidden.has(key))
  const heightOf = (bar: Bar): number =>
    bar.parts.reduce((sum, { key, value }) => sum + (hidden.has(key) ? 0 : drawable(value)), 0)
  const most = Math.min(Number.MAX_VALUE, Math.max(...bars.map(heightOf), 0))
  const hasCaps = bars.some(bar => bar.unmeasured !== undefined)
  if (most === 0 && hidden.size === 0 && !hasCaps)
    return (
      <div className={classes.empty} style={{ height: HEIGHT }}>
        <Text c="dimmed">{empty ?? t('noData')}</Text>
      </div>
    )
  const room = HEIGHT - (hasCaps ? CAP : 0)
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
          const name = visibleLine(bar.label)
          const said = [
            ...parts.map(({ key, value, said: words }) => `${visibleLine(key)} ${words ?? format(value)}`),
            ...(bar.unmeasured === undefined ? [] : [bar.unmeasured]),
          ].join(', ')
          return (
            <li key={bar.label} className={classes.column}>
              <div
                className={classes.bar}
                // biome-ignore lint/a11y/noNoninteractiveTabindex: its values are read out when it is reached
                tabIndex={0}
                role="img"
                aria-label={`${name}: ${said}`}
                title={`${name}\n${said}`}
              >
                {parts.map(({ key, value }) => (
                  <span
                    key={key}
                    className={classes.part}
                    data-pattern={keys.indexOf(key) % PATTERNS}
                    style={{ height: most === 0 ? 0 : (drawable(value) / most) * room }}
                  />
                ))}
                {bar.unmeasured !== undefined && (
                  <span className={classes.cap} style={{ height: CAP }} data-unmeasured />
                )}
              </div>
            </li>
          )
        })}
      </ul>
      <Labels bars={bars} />
      {(keys.length > 1 || hasCaps) && (
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
          {hasCaps && (
            <span className={classes.key}>
              <span className={`${classes.swatch} ${classes.cap}`} aria-hidden />
              {unmeasured}
            </span>
          )}
        </Group>
      )}
    </figure>
  )
}

/** Vendors and servers say any number; what is none, or below nothing, has no height. */
function drawable(value: number): number {
  return value > 0 ? Math.min(value, Number.MAX_VALUE) : 0
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
