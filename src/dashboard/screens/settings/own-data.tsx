import { Anchor, Group, List, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { CopyText } from '../../components/copy-text.tsx'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import { words } from './words.ts'

const EXPORT = 'kogu data backup runs.jsonl.gz'
const DELETE = 'kogu data prune --older-than 90d --yes'

/**
 * What is kept, and how to take it out or delete it. Deleting for good is done at the terminal: the database belongs to all
 * workspaces of the person, and a session of the browser must not be able to erase what was done.
 */
export function OwnData() {
  const t = useWords(words)
  return (
    <Stack gap="md">
      <section aria-label={t('exportData')}>
        <Title order={2}>{t('exportData')}</Title>
        <List size="sm">
          <List.Item>
            <Anchor component={Link} href={routes.audit()} size="sm">
              {t('exportAudit')}
            </Anchor>
          </List.Item>
          <List.Item>
            <Anchor component={Link} href={routes.usage()} size="sm">
              {t('exportUsage')}
            </Anchor>
          </List.Item>
          <List.Item>
            {t('exportRuns')} <Line text={EXPORT} />
          </List.Item>
        </List>
      </section>
      <section aria-label={t('deleteData')}>
        <Title order={2}>{t('deleteData')}</Title>
        <Text size="sm">{t('deleteHint')}</Text>
        <Line text={DELETE} />
        <Text size="sm" mt="xs">
          <Anchor component={Link} href={`${routes.settings()}?part=retention`} size="sm">
            {t('howLong')}
          </Anchor>
        </Text>
      </section>
    </Stack>
  )
}

function Line({ text }: { text: string }) {
  return (
    <Group gap="xs">
      <Text ff="monospace" size="sm">
        {text}
      </Text>
      <CopyText text={text} />
    </Group>
  )
}
