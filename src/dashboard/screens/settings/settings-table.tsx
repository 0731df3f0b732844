import { Alert, Button, Checkbox, Group, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfigFileDrawer, type ConfigLayer } from '../../components/config-file/config-file-drawer.tsx'
import { DataRegion } from '../../components/data-region.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { type Setting, SettingPlace, sayValue } from '../../components/setting.tsx'
import { Untrusted, UntrustedBlock, visibleLine } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { layerOf, withSetting } from './edit-setting.ts'
import { SECTIONS, sectionOf } from './sections.ts'
import type { Config, ConfigFile } from './types.ts'
import { words } from './words.ts'

export function Settings({ config }: { config: UseQueryResult<Config> }) {
  const t = useWords(words)
  return (
    <DataRegion query={config}>
      {loaded => (
        <Stack gap="lg">
          {loaded.problem !== null && (
            <Alert color="red" title={t('problem')}>
              <UntrustedBlock text={loaded.problem} label={t('problem')} />
            </Alert>
          )}
          <Warnings messages={loaded.warnings.map(({ message }) => message)} />
          <SettingTable settings={loaded.settings} />
          <Files files={loaded.files} />
        </Stack>
      )}
    </DataRegion>
  )
}

function Warnings({ messages }: { messages: readonly string[] }) {
  const t = useWords(words)
  if (messages.length === 0) return null
  return (
    <Alert color="yellow" title={t('warnings')}>
      {messages.map(message => (
        <Text size="sm" key={message}>
          <Untrusted text={message} most={1_000} />
        </Text>
      ))}
    </Alert>
  )
}

function SettingTable({ settings }: { settings: readonly Setting[] }) {
  const t = useWords(words)
  const [text, setText] = useUrlState('text')
  const [edited, edit] = useState<Setting>()
  const [only, setOnly] = useUrlState('set')
  const [part, setPart] = useUrlState('part')
  const wanted = settings
    .filter(({ origin }) => only === '' || origin.layer !== 'built-in')
    .filter(({ key }) => part === '' || sectionOf(key) === part)
    .filter(setting => `${setting.key} ${sayValue(setting)}`.toLowerCase().includes(text.toLowerCase()))
  const columns: readonly Column<Setting>[] = [
    {
      key: 'key',
      label: t('key'),
      phone: 'title',
      render: ({ key }) => (
        <Text ff="monospace" size="sm" component="span" style={{ whiteSpace: 'nowrap' }}>
          <Untrusted text={key} />
        </Text>
      ),
    },
    {
      key: 'value',
      label: t('value'),
      render: setting => <Untrusted text={sayValue(setting)} most={200} />,
    },
    { key: 'origin', label: t('origin'), render: ({ origin }) => <SettingPlace origin={origin} /> },
    {
      key: 'overrides',
      label: t('overrides'),
      phone: 'hide',
      render: ({ overrides }) =>
        overrides.map(origin => (
          <div key={`${origin.layer} ${origin.file} ${origin.line}`}>
            <Untrusted text={JSON.stringify(origin.written) ?? ''} most={80} />{' '}
            <SettingPlace origin={origin} />
          </div>
        )),
    },
    {
      key: 'edit',
      label: t('edit'),
      render: setting => (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`${t('edit')} ${visibleLine(setting.key)}`}
          onClick={() => edit(setting)}
        >
          {t('edit')}
        </Button>
      ),
    },
  ]
  return (
    <Stack gap="sm">
      <Group>
        <TextInput
          aria-label={t('search')}
          placeholder={t('search')}
          value={text}
          onChange={event => setText(event.currentTarget.value, { replace: true })}
          style={{ flex: '1 1 240px' }}
          data-filter
        />
        <Select
          aria-label={t('section')}
          data={[
            { value: '', label: t('allSections') },
            ...SECTIONS.map(value => ({ value, label: t(value) })),
          ]}
          value={part}
          onChange={value => setPart(value ?? '')}
          allowDeselect={false}
        />
        <Checkbox
          label={t('onlyChanged')}
          checked={only !== ''}
          onChange={event => setOnly(event.currentTarget.checked ? '1' : '')}
        />
      </Group>
      {wanted.length === 0 ? (
        <Text c="dimmed">{t('noMatch')}</Text>
      ) : (
        <DataTable label={t('settings')} columns={columns} rows={wanted} rowKey={({ key }) => key} />
      )}
      <ConfigFileDrawer
        layer={layerOf(edited)}
        opened={edited !== undefined}
        onClose={() => edit(undefined)}
        propose={text => (edited === undefined ? text : withSetting(text, edited))}
      />
    </Stack>
  )
}

const EDITABLE: readonly string[] = ['user', 'project', 'local'] satisfies ConfigLayer[]

function Files({ files }: { files: readonly ConfigFile[] }) {
  const t = useWords(words)
  const [layer, setLayer] = useState<ConfigLayer>()
  const columns: readonly Column<ConfigFile>[] = [
    { key: 'path', label: t('path'), phone: 'title', render: ({ path }) => <Untrusted text={path} /> },
    { key: 'layer', label: t('layer'), render: file => file.layer },
    { key: 'status', label: t('status'), render: ({ status }) => t(status) },
    {
      key: 'edit',
      label: t('edit'),
      render: file =>
        EDITABLE.includes(file.layer) && !file.path.endsWith('kogu.toml') ? (
          <Button size="compact-xs" variant="default" onClick={() => setLayer(file.layer as ConfigLayer)}>
            {t('edit')}
          </Button>
        ) : null,
    },
  ]
  return (
    <section aria-label={t('files')}>
      <Title order={2} mb="xs">
        {t('files')}
      </Title>
      <DataTable label={t('files')} columns={columns} rows={files} rowKey={({ path }) => path} />
      <ConfigFileDrawer
        layer={layer ?? 'user'}
        opened={layer !== undefined}
        onClose={() => setLayer(undefined)}
      />
    </section>
  )
}
