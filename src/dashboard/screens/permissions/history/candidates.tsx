import { Alert, Anchor, Stack } from '@mantine/core'
import { Link } from 'wouter'
import { Untrusted } from '../../../components/untrusted.tsx'
import { useWords } from '../../../i18n/language.tsx'
import { routes } from '../../../routes.ts'
import { NEW } from '../rule-draft.ts'
import type { Candidate } from '../types.ts'
import { words } from './words.ts'

/** What was always approved could be a rule: for exactly that, filled in, and reviewed before it is saved. */
export function Candidates({ list }: { list: readonly Candidate[] }) {
  const t = useWords(words)
  if (list.length === 0) return null
  return (
    <Alert color="gray" title={t('candidates')} ta="left">
      <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {list.slice(0, MOST).map(({ tool, command, path, times }) => (
          <li key={JSON.stringify([tool, command, path])}>
            <Untrusted
              text={t('candidate', {
                what: command ?? (path === null ? tool : `${tool} ${path}`),
                count: times,
              })}
              most={300}
            />{' '}
            <Anchor
              component={Link}
              size="sm"
              href={routes.permissions({ edit: NEW, tool, input: JSON.stringify({ command, path }) })}
            >
              {t('makeRule')}
            </Anchor>
          </li>
        ))}
      </Stack>
    </Alert>
  )
}

const MOST = 5
