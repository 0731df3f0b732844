import { Button } from '@mantine/core'
import { FastForward } from 'lucide-react'
import { request } from '../../../api/api.ts'
import type { Run } from '../../../api/types.ts'
import { useAction } from '../../../api/use-action.ts'
import { useWords } from '../../../i18n/language.tsx'
import { words } from './words.ts'

/** At a limit of its own, where it says that a person is asked. */
export function GoOn({ run }: { run: Run }) {
  const t = useWords(words)
  const extend = useAction(() => request('POST', `/api/runs/${encodeURIComponent(run.id)}/extend`, {}), {
    topics: ['runs'],
  })
  if (!run.can_extend) return null
  return (
    <Button
      leftSection={<FastForward size={16} aria-hidden />}
      loading={extend.isPending}
      onClick={() => extend.mutate()}
    >
      {t('goOn')}
    </Button>
  )
}
