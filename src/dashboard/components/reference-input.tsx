import { Combobox, Textarea, type TextareaProps, useCombobox } from '@mantine/core'
import { useLayoutEffect, useRef } from 'react'
import { Untrusted } from './untrusted.tsx'

export interface Reference {
  /** Without its braces: `steps.search.text`. */
  readonly path: string
  /** What it was the last time, or what it is. */
  readonly about?: string
}

export interface ReferenceInputProps extends Omit<TextareaProps, 'onChange' | 'value'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly references: readonly Reference[]
}

const MOST_SHOWN = 50
const OPEN = /\{\{\s*([^{}\n]*)$/

/** A text in which `{{` offers what can stand there. */
export function ReferenceInput({ value, onChange, references, ...rest }: ReferenceInputProps) {
  const input = useRef<HTMLTextAreaElement>(null)
  const caret = useRef<number | null>(null)
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  useLayoutEffect(() => {
    if (caret.current === null) return
    input.current?.setSelectionRange(caret.current, caret.current)
    caret.current = null
  })
  const before = (): string => value.slice(0, input.current?.selectionStart ?? value.length)
  const begun = OPEN.exec(before())?.[1]
  const shown = matching(references, begun ?? '')
  const follow = (text: string): void => {
    const at = input.current?.selectionStart ?? text.length
    if (references.length > 0 && OPEN.test(text.slice(0, at))) {
      combobox.openDropdown()
      combobox.selectFirstOption()
    } else combobox.closeDropdown()
  }
  const insert = (path: string): void => {
    const start = before().replace(OPEN, '')
    const after = value.slice(before().length).replace(/^[^{}\s]*\}\}/, '')
    caret.current = start.length + path.length + 4
    onChange(`${start}{{${path}}}${after}`)
    combobox.closeDropdown()
  }
  return (
    <Combobox store={combobox} onOptionSubmit={insert} withinPortal={false}>
      <Combobox.Target
        withKeyboardNavigation={combobox.dropdownOpened}
        withAriaAttributes={references.length > 0}
      >
        <Textarea
          autosize
          minRows={1}
          maxRows={24}
          {...rest}
          ref={input}
          value={value}
          onChange={event => {
            onChange(event.currentTarget.value)
            follow(event.currentTarget.value)
          }}
          onBlur={event => {
            combobox.closeDropdown()
            rest.onBlur?.(event)
          }}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={shown.length === 0}>
        <Combobox.Options mah={240} style={{ overflowY: 'auto' }}>
          {shown.map(({ path, about }) => (
            <Combobox.Option key={path} value={path}>
              <code>
                <Untrusted text={path} />
              </code>
              {about !== undefined && (
                <span style={{ color: 'var(--mantine-color-dimmed)', marginInlineStart: 8 }}>
                  <Untrusted text={about} most={60} />
                </span>
              )}
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}

function matching(references: readonly Reference[], begun: string): Reference[] {
  const wanted = begun.toLowerCase()
  return references.filter(({ path }) => path.toLowerCase().includes(wanted)).slice(0, MOST_SHOWN)
}
