import { Button } from '@mantine/core'
import { ShieldCheck } from 'lucide-react'
import type { MouseEvent } from 'react'
import type { Approval } from '../../api/types.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useInstead } from './edit-call.tsx'
import { words } from './words.ts'

export interface ApprovePartsProps {
  readonly question: Approval
  readonly left: ReadonlySet<number>
  readonly disabled: boolean
  readonly isStray: (event: MouseEvent) => boolean
}

/** Another call than the proposed one: without the parts that were left out. */
export function ApproveParts({ question, left, disabled, isStray }: ApprovePartsProps) {
  const t = useWords(words)
  const send = useInstead(question)
  return (
    <>
      {send.error !== null && <ErrorCard error={send.error} />}
      <Button
        disabled={disabled || left.size === question.parts}
        loading={send.isPending}
        leftSection={<ShieldCheck size={16} aria-hidden />}
        onClick={event => {
          if (!isStray(event)) send.mutate({ leave_out: [...left] })
        }}
      >
        {t('approveParts')}
      </Button>
    </>
  )
}
