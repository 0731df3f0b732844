import { Alert, Anchor, List } from '@mantine/core'
import { type MouseEvent, useRef } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { visibleLine } from '../untrusted.tsx'
import { useForm } from './form-context.ts'
import { words } from './words.ts'

/** Everything that is wrong in a form, above it, each with the way to its field. */
export function MistakeList() {
  const t = useWords(words)
  const { mistakes } = useForm()
  const box = useRef<HTMLDivElement>(null)
  if (mistakes.size === 0) return null
  const go = (event: MouseEvent, pointer: string): void => {
    event.preventDefault()
    const form = box.current?.closest('fieldset')
    const field = form?.querySelector(`[data-pointer="${CSS.escape(pointer)}"]`)
    // A folded group shows its field when it is opened, and cannot be gone into before.
    const folded = field?.closest('.mantine-Accordion-item')?.querySelector('[aria-expanded="false"]')
    const goal = folded ?? field?.querySelector('input, textarea, select, button')
    if (goal instanceof HTMLElement) goal.focus()
  }
  return (
    <Alert ref={box} role="group" color="red" mb="sm" py="xs" title={t('mistakes', { count: mistakes.size })}>
      <List size="sm">
        {[...mistakes].map(([pointer, message]) => (
          <List.Item key={pointer}>
            <Anchor component="button" type="button" inherit onClick={event => go(event, pointer)}>
              {visibleLine(pointer.slice(1) || t('form'), 120)}
            </Anchor>
            {`: ${visibleLine(message)}`}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
