import { Button, Group, Menu, Modal, TextInput } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { Bookmark, BookmarkMinus, BookmarkPlus } from 'lucide-react'
import { useState } from 'react'
import { Link, useSearch } from 'wouter'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { words } from './words.ts'

/** What the page always offers. */
const GIVEN = {
  byHand: 'by=user&outcome=allow',
  byRule: 'by=rule&outcome=allow',
  denied: 'outcome=deny',
  unanswered: 'by=timeout',
  notes: 'kind=notes',
} as const

interface View {
  readonly name: string
  readonly query: string
}

/** A view is the address: filters and columns. Those that a person saves stay in this browser. */
export function Views() {
  const t = useWords(words)
  const query = useSearch()
  const [saved, save] = useLocalStorage<readonly View[]>({ key: 'kogu-audit-views', defaultValue: [] })
  const [naming, setNaming] = useState(false)
  const isSaved = saved.some(view => view.query === query)
  return (
    <>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button variant="default" size="compact-sm" leftSection={<Bookmark size={14} aria-hidden />}>
            {t('views')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {saved.map(view => (
            <Menu.Item key={view.name} component={Link} href={`${routes.audit()}?${view.query}`}>
              {view.name}
            </Menu.Item>
          ))}
          {saved.length > 0 && <Menu.Divider />}
          {(Object.keys(GIVEN) as (keyof typeof GIVEN)[]).map(name => (
            <Menu.Item key={name} component={Link} href={`${routes.audit()}?${GIVEN[name]}`}>
              {t(name)}
            </Menu.Item>
          ))}
          <Menu.Item component={Link} href={routes.permissions()}>
            {t('ruleUse')}
          </Menu.Item>
          <Menu.Divider />
          {isSaved ? (
            <Menu.Item
              leftSection={<BookmarkMinus size={14} aria-hidden />}
              onClick={() => save(saved.filter(view => view.query !== query))}
            >
              {t('forgetView')}
            </Menu.Item>
          ) : (
            <Menu.Item leftSection={<BookmarkPlus size={14} aria-hidden />} onClick={() => setNaming(true)}>
              {t('saveView')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <NameView
        opened={naming}
        onClose={() => setNaming(false)}
        onName={name => save([...saved.filter(view => view.name !== name), { name, query }])}
      />
    </>
  )
}

interface NameViewProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly onName: (name: string) => void
}

function NameView({ opened, onClose, onName }: NameViewProps) {
  const t = useWords(words)
  const [name, setName] = useState('')
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('saveView')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <form
        onSubmit={event => {
          event.preventDefault()
          onName(name.trim())
          setName('')
          onClose()
        }}
      >
        <TextInput
          label={t('viewName')}
          maxLength={60}
          data-autofocus
          value={name}
          onChange={event => setName(event.currentTarget.value)}
        />
        <Group justify="flex-end" mt="md">
          <Button type="submit" disabled={name.trim() === ''}>
            {t('save')}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
