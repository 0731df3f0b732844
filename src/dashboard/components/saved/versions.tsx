import { Badge, Button, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { History } from 'lucide-react'
import { useState } from 'react'
import { type Topic, useGet } from '../../api/api.ts'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { DataRegion, Empty } from '../data-region.tsx'
import { DiffView } from '../diff-view.tsx'
import { Untrusted, UntrustedBlock } from '../untrusted.tsx'
import { words } from './words.ts'

export interface Version {
  readonly version: number
  readonly hash: string
  readonly author: string
  readonly at: string
}

export interface VersionsProps {
  readonly topic: Topic
  /** Of the panel or the pipeline. */
  readonly path: string
  readonly hash: string
  /** Puts the text into the editor; nothing is saved by it. */
  readonly onRestore: (text: string) => void
}

/** Every save is a version: who, when, and what restoring it would change. */
export function Versions({ topic, path, hash, onRestore }: VersionsProps) {
  const t = useWords(words)
  const format = useFormat()
  const [chosen, choose] = useState<number | null>(null)
  const versions = useGet<Version[]>(topic, `${path}/versions`)
  return (
    <DataRegion
      query={versions}
      isEmpty={list => list.length === 0}
      empty={<Empty icon={<History size={28} aria-hidden />} title={t('noVersions')} guide="dashboard" />}
    >
      {list => (
        <Stack gap="xs">
          {list.map(({ version, author, at, hash: own }) => (
            <div key={version} className="kogu-card" style={{ padding: '8px 12px' }}>
              <UnstyledButton
                w="100%"
                aria-expanded={chosen === version}
                onClick={() => choose(chosen === version ? null : version)}
              >
                <Group justify="space-between" gap="xs">
                  <Group gap="xs">
                    <Text fw={600} size="sm">
                      {t('version', { number: version })}
                    </Text>
                    {own === hash && <Badge color="green">{t('current')}</Badge>}
                  </Group>
                  <Text size="xs" c="dimmed">
                    <Untrusted text={author} most={60} /> · {format.dateTime(at)}
                  </Text>
                </Group>
              </UnstyledButton>
              {chosen === version && (
                <OneVersion topic={topic} path={`${path}/versions/${version}`} onRestore={onRestore} />
              )}
            </div>
          ))}
        </Stack>
      )}
    </DataRegion>
  )
}

function OneVersion({ topic, path, onRestore }: Pick<VersionsProps, 'topic' | 'path' | 'onRestore'>) {
  const t = useWords(words)
  const found = useGet<Version & { text: string; diff: string | null }>(topic, path)
  return (
    <DataRegion query={found}>
      {({ text, diff }) => (
        <Stack gap="sm" mt="sm">
          {diff === '' ? (
            <Text size="sm" c="dimmed">
              {t('same')}
            </Text>
          ) : diff === null ? (
            <UntrustedBlock text={text} />
          ) : (
            <DiffView diff={diff} />
          )}
          <Button
            variant="default"
            size="compact-sm"
            style={{ alignSelf: 'flex-start' }}
            disabled={diff === ''}
            onClick={() => onRestore(text)}
          >
            {t('restore')}
          </Button>
        </Stack>
      )}
    </DataRegion>
  )
}
