import { Button, Group } from '@mantine/core'
import { FlaskConical } from 'lucide-react'
import { request } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { UntrustedBlock } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { Section } from './section.tsx'
import { words } from './words.ts'

/** Runs the command on a copy of the files and shows what came of it. Nothing of it is kept. */
export function TryCommand({ question }: { question: string }) {
  const t = useWords(words)
  const attempt = useAction(
    () => request<{ text: string }>('POST', `/api/approvals/${encodeURIComponent(question)}/try`, {}),
    { topics: [], quiet: true },
  )
  return (
    <>
      <Group>
        <Button
          variant="default"
          size="compact-sm"
          loading={attempt.isPending}
          leftSection={<FlaskConical size={15} aria-hidden />}
          onClick={() => attempt.mutate()}
        >
          {t('tryOut')}
        </Button>
      </Group>
      {attempt.error !== null && <ErrorCard error={attempt.error} />}
      {attempt.data !== undefined && (
        <Section label={t('triedOut')}>
          <UntrustedBlock text={attempt.data.text} label={t('triedOut')} most={20_000} />
        </Section>
      )}
    </>
  )
}
