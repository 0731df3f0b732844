import { Badge, Group, Stack, Text } from '@mantine/core'
import { CircleAlert, CircleCheck, CircleMinus, CircleX } from 'lucide-react'
import { Untrusted } from '../../components/untrusted.tsx'
import { useFormat } from '../../i18n/format.ts'
import { useWords } from '../../i18n/language.tsx'
import { Section } from './section.tsx'
import { type ApprovalContext, useContext, type Vote } from './use-context.ts'
import { words } from './words.ts'

/** Who has looked at the call before, and what became of others like it. */
export function ContextParts({ question, isOpen }: { question: string; isOpen: boolean }) {
  const { data } = useContext(question, isOpen)
  if (data === undefined) return null
  return (
    <>
      {data.review !== null && <Votes review={data.review} />}
      <Similar similar={data.similar} />
    </>
  )
}

const MARKS = {
  approve: { icon: CircleCheck, color: 'green', word: 'voteApprove' },
  reject: { icon: CircleX, color: 'red', word: 'voteReject' },
  abstain: { icon: CircleMinus, color: 'gray', word: 'voteAbstain' },
  error: { icon: CircleAlert, color: 'orange', word: 'voteError' },
} as const

function Votes({ review }: { review: NonNullable<ApprovalContext['review']> }) {
  const t = useWords(words)
  const { display, needed, passed, undecided, votes, before = [] } = review
  const outcome = undecided ? 'votesUndecided' : passed ? 'votesPassed' : 'votesRejected'
  const changed = votes.filter(
    ({ reviewer, verdict }) => before.find(each => each.reviewer === reviewer)?.verdict !== verdict,
  )
  return (
    <Section label={t('reviewers')}>
      <Text size="sm">
        <Text component="span" ff="monospace" aria-hidden>
          <Untrusted text={display} most={60} />
        </Text>{' '}
        {t(outcome, {
          count: votes.filter(({ verdict }) => verdict === 'approve').length,
          all: votes.length,
        })}
        {needed !== undefined && ` · ${t('votesNeeded', { count: needed })}`}
      </Text>
      <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {votes.map(vote => (
          <VoteRow key={vote.reviewer} vote={vote} />
        ))}
      </Stack>
      {before.length > 0 && changed.length > 0 && (
        <Text size="xs" c="dimmed">
          <Untrusted text={t('changedMind', { names: changed.map(({ reviewer }) => reviewer).join(', ') })} />
        </Text>
      )}
    </Section>
  )
}

function VoteRow({ vote: { reviewer, verdict, reasoning, confidence, ms } }: { vote: Vote }) {
  const t = useWords(words)
  const format = useFormat()
  const { icon: Icon, color, word } = MARKS[verdict]
  return (
    <Group component="li" gap="xs" wrap="nowrap" align="flex-start">
      <Badge color={color} leftSection={<Icon size={13} aria-hidden />} style={{ flex: 'none' }}>
        {t(word)}
      </Badge>
      <Text size="sm" style={{ minWidth: 0 }}>
        <strong>
          <Untrusted text={reviewer} most={60} />
        </strong>
        {confidence !== undefined && <> ({format.percent(confidence)})</>}
        {ms !== undefined && ` ${format.duration(ms)}`}
        <Untrusted text={reasoning} most={600} />
      </Text>
    </Group>
  )
}

function Similar({ similar }: { similar: ApprovalContext['similar'] }) {
  const t = useWords(words)
  const format = useFormat()
  const { what, calls, allowed, denied, failed, same, last } = similar
  return (
    <Section label={t('similar')}>
      <Text size="sm">
        {calls === 0 ? (
          <Untrusted text={t('similarNone', { what })} />
        ) : (
          <>
            <Untrusted text={t('similarSome', { count: calls, what })} />
            {': '}
            {[
              t('similarAllowed', { count: allowed }),
              ...(denied > 0 ? [t('similarDenied', { count: denied })] : []),
              ...(failed > 0 ? [t('similarFailed', { count: failed })] : []),
              ...(same > 0 ? [t('similarSame', { count: same })] : []),
              ...(last === null ? [] : [t('similarLast', { when: format.ago(Date.parse(last)) })]),
            ].join(' · ')}
          </>
        )}
      </Text>
    </Section>
  )
}
