import { Button, Group, Modal, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { request, useGet } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import type { Pipeline } from './types.ts'
import { pipelinePath } from './use-editing.ts'
import { words } from './words.ts'

/** A button that makes a pipeline: with one empty text, or from a template. */
export function NewPipeline() {
  const t = useWords(words)
  const [opened, dialog] = useDisclosure(false)
  return (
    <>
      <Button leftSection={<Plus size={16} aria-hidden />} onClick={dialog.open}>
        {t('newPipeline')}
      </Button>
      <Modal
        opened={opened}
        onClose={dialog.close}
        title={t('newPipeline')}
        size="lg"
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <NewForm />
      </Modal>
    </>
  )
}

function NewForm() {
  const t = useWords(words)
  const [, navigate] = useLocation()
  const templates =
    useGet<{ name: string; description: string }[]>('pipelines', '/api/pipeline-templates').data ?? []
  const [name, setName] = useState('')
  const [template, setTemplate] = useState('')
  const isValid = /^[a-z][a-z0-9_-]{0,40}$/.test(name)
  const create = useAction(
    () =>
      template === ''
        ? request<Pipeline>('PUT', pipelinePath(name), {
            definition: { name, step: [{ id: 'text', text: '' }] },
            base: null,
          })
        : request<Pipeline>('POST', '/api/pipelines', { name, template }),
    { topics: ['pipelines', 'panels'], quiet: true, onDone: made => navigate(routes.pipeline(made.name)) },
  )
  return (
    <Stack
      component="form"
      onSubmit={event => {
        event.preventDefault()
        if (isValid) create.mutate()
      }}
    >
      <TextInput
        data-autofocus
        label={t('name')}
        description={t('nameAbout')}
        value={name}
        error={name !== '' && !isValid}
        onChange={event => setName(event.currentTarget.value)}
      />
      <div role="radiogroup" aria-label={t('template')}>
        {[{ name: '', description: t('emptyAbout') }, ...templates].map(each => (
          <UnstyledButton
            key={each.name}
            role="radio"
            aria-checked={template === each.name}
            w="100%"
            px="sm"
            py={7}
            style={{
              borderRadius: 6,
              background: template === each.name ? 'var(--mantine-color-default-hover)' : undefined,
              boxShadow: template === each.name ? 'inset 3px 0 0 var(--mantine-color-indigo-6)' : undefined,
            }}
            onClick={() => setTemplate(each.name)}
          >
            <Text size="sm" fw={600} component="span">
              {each.name === '' ? t('empty') : each.name}
            </Text>
            <Text size="xs" c="dimmed" component="span" ml={8}>
              {each.description}
            </Text>
          </UnstyledButton>
        ))}
      </div>
      {create.error !== null && <ErrorCard error={create.error} />}
      <Group justify="flex-end">
        <Button type="submit" disabled={!isValid} loading={create.isPending}>
          {t('create')}
        </Button>
      </Group>
    </Stack>
  )
}
