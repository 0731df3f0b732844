import { List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { FolderOpen } from 'lucide-react'
import { useDeferredValue, useMemo } from 'react'
import { request } from '../../api/api.ts'
import { DataRegion, Empty } from '../../components/data-region.tsx'
import { drawnAs } from '../../components/panel-kind/panel-kind.tsx'
import { ShownOutput } from '../../components/show/shown-output.tsx'
import { Untrusted, UntrustedBlock } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { inAddress } from '../../routes.ts'
import { fillText, variablesOf } from './prompt-variables.ts'
import type { Panel, PanelSettings } from './types.ts'
import { type Given, ValueFields } from './value-fields.tsx'
import { words } from './words.ts'

interface PreviewProps {
  readonly panel: Panel
  readonly settings: PanelSettings
  readonly given: Given
}

/** What a panel would hand over in which no model works, as it is being edited. */
export function Preview({ panel, settings, given }: PreviewProps) {
  if (settings.kind === 'folder')
    return <FolderPreview key={panel.hash} name={panel.name} hash={panel.hash} />
  return <TextPreview settings={settings} given={given} />
}

function TextPreview({ settings: { kind, text = '' }, given }: Omit<PreviewProps, 'panel'>) {
  const t = useWords(words)
  const [values] = given
  // Typing must not wait for hundreds of rows.
  const filled = useDeferredValue(fillText(text, values))
  const show = drawnAs(kind)
  const shown = useMemo(
    () =>
      show === undefined ? (
        <UntrustedBlock text={filled} label={t('preview')} />
      ) : (
        <ShownOutput show={show} output={{ text: filled }} />
      ),
    [show, filled, t],
  )
  return (
    <Stack gap="sm">
      <ValueFields names={variablesOf(text)} given={given} />
      {shown}
    </Stack>
  )
}

/** Its files as the server may list them now: a call like any other, so it is not repeated by itself. */
function FolderPreview({ name, hash }: { name: string; hash: string }) {
  const t = useWords(words)
  const files = useQuery({
    queryKey: ['folder-files', name, hash],
    queryFn: () => request<{ files: string[] }>('POST', `/api/panels/${inAddress(name)}/files`, {}),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return (
    <DataRegion
      query={files}
      isEmpty={found => found.files.length === 0}
      empty={<Empty icon={<FolderOpen size={28} aria-hidden />} title={t('noFiles')} />}
    >
      {found => (
        <Stack gap="xs">
          <Text size="sm">{t('files', { count: found.files.length })}</Text>
          <List size="sm" ff="monospace" className="kogu-card" px="lg" py="sm">
            {found.files.map(path => (
              <List.Item key={path}>
                <Untrusted text={path} most={200} />
              </List.Item>
            ))}
          </List>
          <Text size="xs" c="dimmed">
            {t('filesAbout')}
          </Text>
        </Stack>
      )}
    </DataRegion>
  )
}
