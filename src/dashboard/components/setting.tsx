import { useWords } from '../i18n/language.tsx'
import { Untrusted } from './untrusted.tsx'
import { usePlace } from './use-short-path.ts'
import { words } from './words.ts'

/** Where a setting was given. */
export interface Origin {
  readonly layer: string
  readonly file?: string
  readonly line?: number
  readonly written?: unknown
}

/** As `GET /api/config` lists it. */
export interface Setting {
  readonly key: string
  readonly value: unknown
  /** Of a duration or a size: as a file says it. */
  readonly text?: string
  readonly origin: Origin
  readonly overrides: readonly Origin[]
}

export function sayValue({ value, text }: Setting): string {
  return JSON.stringify(text ?? value) ?? ''
}

export function SettingPlace({ origin: { layer, file, line } }: { origin: Origin }) {
  const t = useWords(words)
  const place = usePlace()
  if (file === undefined) return layer === 'built-in' ? t('builtIn') : layer
  return (
    <>
      {layer} <Untrusted text={place({ source: file, line })} most={120} />
    </>
  )
}
