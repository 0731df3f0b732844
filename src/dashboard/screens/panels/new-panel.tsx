import { Button, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { request } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { useKindName } from '../../components/panel-kind/panel-kind.tsx'
import { useWords } from '../../i18n/language.tsx'
import { inAddress, routes } from '../../routes.ts'
import { CONTENT, STARTS, type StartName, TEMPLATES } from './starts.ts'
import type { Panel } from './types.ts'
import { words } from './words.ts'

/** Buttons that make a panel: empty, from a template, or one without a model. */
export function NewPanel({ withTemplates = false }: { withTemplates?: boolean }) {
  const t = useWords(words)
  const [start, setStart] = useState<StartName>('empty')
  const [opened, dialog] = useDisclosure(false)
  const open = (name: StartName): void => {
    setStart(name)
    dialog.open()
  }
  return (
    <>
      <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => open('empty')}>
        {t('newPanel')}
      </Button>
      {withTemplates &&
        TEMPLATES.map(name => (
          <Button key={name} variant="default" onClick={() => open(name)}>
            {t(name)}
          </Button>
        ))}
      <Modal
        opened={opened}
        onClose={dialog.close}
        title={t('newPanel')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <NewPanelForm first={start} />
      </Modal>
    </>
  )
}

function NewPanelForm({ first }: { first: StartName }) {
  const t = useWords(words)
  const kindName = useKindName()
  const [, navigate] = useLocation()
  const [start, setStart] = useState(first)
  const [name, setName] = useState(first === 'empty' ? '' : first)
  const create = useAction(
    () =>
      request<Panel>('PUT', `/api/panels/${inAddress(name)}`, {
        settings: STARTS[start],
        base: null,
      }),
    { topics: ['panels'], quiet: true, onDone: made => navigate(routes.panel(made.name)) },
  )
  const isValid = /^[\w-]{1,100}$/.test(name)
  return (
    <Stack
      component="form"
      onSubmit={event => {
        event.preventDefault()
        if (isValid) create.mutate()
      }}
    >
      <TextInput
        label={t('name')}
        description={t('nameAbout')}
        data-autofocus
        value={name}
        error={name !== '' && !isValid}
        onChange={event => setName(event.currentTarget.value)}
      />
      <NativeSelect
        label={t('beginWith')}
        value={start}
        onChange={event => setStart(toStart(event.currentTarget.value))}
        data={[
          {
            group: t('withModel'),
            items: (['empty', ...TEMPLATES] as const).map(value => ({ value, label: t(value) })),
          },
          {
            group: t('withoutModel'),
            items: CONTENT.map(value => ({ value, label: kindName(value) })),
          },
        ]}
      />
      {create.error !== null && <ErrorCard error={create.error} />}
      <Group justify="flex-end">
        <Button type="submit" disabled={!isValid} loading={create.isPending}>
          {t('create')}
        </Button>
      </Group>
    </Stack>
  )
}

function toStart(value: string): StartName {
  return [...TEMPLATES, ...CONTENT].find(each => each === value) ?? 'empty'
}
