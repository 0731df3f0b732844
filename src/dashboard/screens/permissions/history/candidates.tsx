import { Alert, Anchor, Stack } from '@mantine/core'
import { Link } from 'wouter'
import { Untrusted } from '../../../components/untrusted.tsx'
import { useWords } from '../../../i18n/language.tsx'
import { routes } from '../../../routes.ts'
import { NEW, proposeRule } from '../rule-draft.ts'
import type { Candidate } from '../types.ts'
import { words } from './words.ts'

/** What was always approved could be a rule: for exactly that, filled in, and reviewed before it is saved. */
export function Candidates({ list }: { list: readonly Candidate[] }) {
  const t = useWords(words)
  const exact = list
    .map(each => ({ ...each, input: JSON.stringify({ command: each.command, path: each.path }) }))
    .filter(({ tool, input }) => proposeRule(tool, input) !== undefined)
  if (exact.length === 0) return null
  return (
    <Alert color="gray" title={t('candidates')} ta="left">
      <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {exact.slice(0, MOST).map(({ tool, command, path, times, input }) => (
          <li key={`${tool} ${input}`}>
            <Untrusted
              text={t('candidate', {
                what: command ?? `${tool} ${path}`,
                count: times,
              })}
              most={300}
            />{' '}
            <Anchor component={Link} size="sm" href={routes.permissions({ edit: NEW, tool, input })}>
              {t('makeRule')}
            </Anchor>
          </li>
        ))}
      </Stack>
    </Alert>
  )
}

const MOST = 5
