import { Button } from '@mantine/core'
import { ShieldCheck } from 'lucide-react'
import type { MouseEvent } from 'react'
import type { Approval } from '../../api/types.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { parseDiff } from '../../components/parse-diff.ts'
import { reverseDiff } from '../../components/reverse-diff.ts'
import { useWords } from '../../i18n/language.tsx'
import { useInstead } from './edit-call.tsx'
import { words } from './words.ts'

/** How many parts of a proposed text can be chosen one by one; 0 when it is all or nothing. */
export function countParts({ subject, input, preview = '' }: Approval): number {
  const { content } = input
  if (subject.kind !== 'call' || typeof content !== 'string') return 0
  // What is masked is not known here, so a part of it cannot be written.
  if (content.includes('‹secret') || reverseDiff(content, preview) === undefined) return 0
  const [file] = parseDiff(preview)
  const parts = file?.lines.filter(({ kind, text }) => kind === 'hunk' && text.startsWith('@@')).length ?? 0
  return parts > 1 ? parts : 0
}

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
  const content = reverseDiff(String(question.input.content), question.preview ?? '', left)
  return (
    <>
      {send.error !== null && <ErrorCard error={send.error} />}
      <Button
        disabled={disabled || content === undefined || left.size === countParts(question)}
        loading={send.isPending}
        leftSection={<ShieldCheck size={16} aria-hidden />}
        onClick={event => {
          if (!isStray(event)) send.mutate({ values: { content } })
        }}
      >
        {t('approveParts')}
      </Button>
    </>
  )
}
