import { Kbd, Modal, Switch, Table } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { useWords } from '../i18n/language.tsx'
import { SCREENS } from './screens.ts'
import { words } from './words.ts'

interface Help {
  readonly opened: boolean
  readonly close: () => void
  readonly letters: boolean
  readonly setLetters: (on: boolean) => void
}

/** Letters do something only while nobody is writing, and never answer a question. They can be turned off (WCAG 2.1.4). */
export function useShortcuts(): Help {
  const [opened, setOpened] = useState(false)
  const [letters, setLetters] = useLocalStorage({ key: 'kogu-letter-shortcuts', defaultValue: true })
  const [, navigate] = useLocation()
  useEffect(() => {
    let went = 0
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isWriting(event.target))
        return
      const { key, target } = event
      const by = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
      // Elsewhere arrows scroll, as everywhere.
      if (by !== 0 && target instanceof HTMLElement && target.matches('[data-row-link]')) {
        event.preventDefault()
        moveFocus(by)
      }
      if (!letters) return
      if (performance.now() - went < SECOND_KEY_MS) {
        went = 0
        const screen = SCREENS.find(({ letter }) => letter === key)
        if (screen !== undefined) navigate(screen.path)
        return
      }
      if (key === 'g') went = performance.now()
      else if (key === '?') setOpened(true)
      else if (key === 'j') moveFocus(1)
      else if (key === 'k') moveFocus(-1)
      else if (key === '/') {
        event.preventDefault()
        document.querySelector<HTMLElement>('[data-filter]')?.focus()
      }
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [letters, navigate])
  return { opened, close: () => setOpened(false), letters, setLetters }
}

const SECOND_KEY_MS = 1_200

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.closest('input, textarea, select, [role="textbox"], [role="dialog"]') !== null)
  )
}

function moveFocus(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row-link]')]
  const now = rows.findIndex(row => row.matches(':focus'))
  rows[Math.max(0, Math.min(rows.length - 1, now + by))]?.focus()
}

export function ShortcutHelp({ opened, close, letters, setLetters }: Help) {
  const t = useWords(words)
  const rows: readonly (readonly [string, string])[] = [
    ['Ctrl K', t('keysPalette')],
    ['?', t('keysHelp')],
    ...SCREENS.flatMap(({ key, letter }) =>
      letter === undefined ? [] : [[`g ${letter}`, t('keysGo', { name: t(key) })] as const],
    ),
    ['j k ↓ ↑', t('keysMove')],
    ['Enter', t('keysOpen')],
    ['/', t('keysFilter')],
    ['Esc', t('keysClose')],
  ]
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t('keys')}
      closeButtonProps={{ 'aria-label': t('keysClose') }}
    >
      <Table>
        <Table.Tbody>
          {rows.map(([keys, text]) => (
            <Table.Tr key={keys}>
              <Table.Td>
                <Kbd>{keys}</Kbd>
              </Table.Td>
              <Table.Td>{text}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Switch
        mt="md"
        label={t('keysOff')}
        checked={letters}
        onChange={event => setLetters(event.currentTarget.checked)}
      />
    </Modal>
  )
}
