import { Textarea } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { words } from '../words.ts'

export interface JsonFieldProps {
  readonly label: string
  readonly description?: string
  readonly value: unknown
  readonly rows?: number
  readonly error?: string | undefined
  readonly onChange: (value: unknown) => void
  readonly onValid?: (valid: boolean) => void
}

/** Text that is no JSON stays as it was typed and blocks saving; an older value is never used in its place. */
export function JsonField({ label, description, value, rows = 4, error, onChange, onValid }: JsonFieldProps) {
  const t = useWords(words)
  const [text, setText] = useState(() => toText(value))
  const [problem, setProblem] = useState<string>()
  const sent = useRef(value)
  useEffect(() => {
    // Changed from outside, such as in the form beside it.
    if (sent.current === value) return
    sent.current = value
    setText(toText(value))
    setProblem(undefined)
  }, [value])
  const type = (next: string): void => {
    setText(next)
    try {
      const parsed: unknown = next.trim() === '' ? undefined : JSON.parse(next)
      sent.current = parsed
      setProblem(undefined)
      onValid?.(true)
      onChange(parsed)
    } catch (failure) {
      setProblem(t('invalidJson', { reason: failure instanceof Error ? failure.message : '' }))
      onValid?.(false)
    }
  }
  return (
    <Textarea
      label={label}
      description={description}
      value={text}
      autosize
      minRows={rows}
      maxRows={30}
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      error={problem ?? error}
      onChange={event => type(event.currentTarget.value)}
    />
  )
}

function toText(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}
