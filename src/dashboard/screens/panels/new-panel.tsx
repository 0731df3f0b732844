import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { request } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import type { Panel, PanelSettings } from './types.ts'
import { words } from './words.ts'

type TemplateName = 'empty' | 'researcher' | 'editor' | 'summariser'

const TEMPLATES: Readonly<Record<TemplateName, PanelSettings>> = {
  empty: { prompt: '{{input}}' },
  researcher: {
    description: 'Finds sources and says what they say',
    system:
      'You are a careful researcher. You name your sources and separate what they say from what you conclude.',
    prompt: 'Find three sources about {{topic}} and summarise what they say.',
    tools: { web_search: {}, web_fetch: {} },
  },
  editor: {
    description: 'Changes code, as little as possible',
    system: 'You change as little as possible, and you read a file before you change it.',
    prompt: '{{input}}',
    tools: { read_file: {}, grep_search: {}, glob_search: {}, edit_file: { allowed_dirs: ['.'] } },
  },
  summariser: {
    description: 'Summarises files',
    system: 'You write short, exact summaries.',
    prompt: 'Read {{file}} and summarise it in five sentences.',
    tools: { read_file: {} },
  },
}

/** Buttons that make a panel: empty, or from a template. */
export function NewPanel({ withTemplates = false }: { withTemplates?: boolean }) {
  const t = useWords(words)
  const [template, setTemplate] = useState<TemplateName>('empty')
  const [opened, dialog] = useDisclosure(false)
  const open = (name: TemplateName): void => {
    setTemplate(name)
    dialog.open()
  }
  return (
    <>
      <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => open('empty')}>
        {t('newPanel')}
      </Button>
      {withTemplates &&
        (['researcher', 'editor', 'summariser'] as const).map(name => (
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
        <NameForm start={TEMPLATES[template]} suggestion={template === 'empty' ? '' : template} />
      </Modal>
    </>
  )
}

function NameForm({ start, suggestion }: { start: PanelSettings; suggestion: string }) {
  const t = useWords(words)
  const [, navigate] = useLocation()
  const [name, setName] = useState(suggestion)
  const create = useAction(
    () => request<Panel>('PUT', `/api/panels/${encodeURIComponent(name)}`, { settings: start, base: null }),
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
      {create.error !== null && <ErrorCard error={create.error} />}
      <Group justify="flex-end">
        <Button type="submit" disabled={!isValid} loading={create.isPending}>
          {t('create')}
        </Button>
      </Group>
    </Stack>
  )
}
