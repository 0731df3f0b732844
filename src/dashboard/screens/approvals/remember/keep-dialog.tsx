import { Alert, Button, Group, Modal, Radio, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleX } from 'lucide-react'
import { type MouseEvent, useState } from 'react'
import type { AnswerRequest } from '../../../../client.ts'
import { request, toShownError, useGet } from '../../../api/api.ts'
import type { Approval } from '../../../api/types.ts'
import { ErrorCard } from '../../../components/data-region.tsx'
import { renameFolder } from '../../../components/short-path.ts'
import { CutTexts, Untrusted } from '../../../components/untrusted.tsx'
import { useWords } from '../../../i18n/language.tsx'
import { AS_OFFERED, type LineWord, toPattern } from './chips.ts'
import { RuleChips } from './rule-chips.tsx'
import { words } from './words.ts'

interface KeepDialogProps {
  readonly question: Approval
  readonly opened: boolean
  readonly onClose: () => void
  readonly onKeep: (event: MouseEvent, answer: Omit<AnswerRequest, 'digest'>) => void
}

/** What can be remembered, where, and for how long. The server makes the offers, and checks what is chosen of them. */
export function KeepDialog({ question, opened, onClose, onKeep }: KeepDialogProps) {
  const t = useWords(words)
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('title')}
      size="lg"
      closeButtonProps={{ 'aria-label': t('cancel') }}
    >
      <Form question={question} onClose={onClose} onKeep={onKeep} />
    </Modal>
  )
}

const SCOPES = ['run', 'panel', 'project', 'everywhere'] as const
type Scope = (typeof SCOPES)[number]

/** Which ends make sense where: a run is over before a week is. */
const HOURS = { session: undefined, hour: 1, week: 7 * 24, permanent: undefined } as const
type Span = keyof typeof HOURS
const SPANS: Readonly<Record<Scope, readonly Span[]>> = {
  run: ['session', 'hour'],
  panel: ['hour', 'week', 'permanent'],
  project: ['hour', 'week', 'permanent'],
  everywhere: ['hour', 'week', 'permanent'],
}

function Form({ question, onClose, onKeep }: Omit<KeepDialogProps, 'opened'>) {
  const t = useWords(words)
  const [grant, setGrant] = useState(question.offers[0]?.id ?? '')
  const [scope, setScope] = useState<Scope>('run')
  const [span, setSpan] = useState<Span>('session')
  const [chosen, choose] = useState(AS_OFFERED)
  const offers = useGet<OfferMatches[]>('audit', `/api/approvals/${encodeURIComponent(question.id)}/offers`)
  const offer = offers.data?.find(({ id }) => id === grant)
  // The narrowest of several is the very call, in which no word can be chosen.
  const canChoose = grant !== question.offers[0]?.id && (offer?.words.length ?? 0) > 0
  const pattern = canChoose ? toPattern(offer?.words ?? [], chosen) : undefined
  const match = useMatch(question.id, grant, pattern)
  const shown = pattern === undefined ? offer : match.data
  const scopes = offer?.scopes ?? ['run']
  const pick = (next: Scope): void => {
    setScope(next)
    if (!SPANS[next].includes(span)) setSpan(SPANS[next][0] ?? 'hour')
  }
  // What is remembered has to be there, and whole.
  const [unread, setUnread] = useState(0)
  const isSeen = shown !== undefined && unread === 0
  const mayKeep = isSeen && scopes.includes(scope) && (pattern === undefined || match.isMatching)
  const hours = HOURS[span]
  return (
    <Stack data-answer>
      <Offers question={question} offers={offers.data ?? []} grant={grant} onPick={setGrant} />
      {offer !== undefined && offer.words.length > 0 && (canChoose || isLocked(offer)) && (
        <RuleChips line={offer.words} chosen={chosen} onChange={choose} />
      )}
      {offers.error !== null && <ErrorCard error={offers.error} />}
      <CutTexts value={setUnread}>
        <Live question={question} offer={shown} error={match.error} />
      </CutTexts>
      <Choice
        label={t('where')}
        value={scope}
        onChange={pick}
        of={SCOPES.filter(each => each !== 'panel' || scopes.includes(each))}
        open={scopes}
      />
      {offer !== undefined && !scopes.includes('everywhere') && (
        <Text size="xs" c="dimmed">
          {t('notEverywhere')}
        </Text>
      )}
      <Choice label={t('howLong')} value={span} onChange={setSpan} of={SPANS[scope]} open={SPANS[scope]} />
      {scope === 'everywhere' && <Alert color="orange">{t('everywhereNote')}</Alert>}
      <Text size="sm" c="dimmed">
        {t('rememberNote')}
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button
          disabled={!mayKeep}
          onClick={event => {
            onKeep(event, {
              ...(scope === 'run' ? { answer: 'session' } : { answer: 'permanent', scope }),
              ...{ grant, ...(hours === undefined ? {} : { hours }) },
              ...(pattern === undefined ? {} : { pattern }),
            })
            onClose()
          }}
        >
          {t('approveRemember')}
        </Button>
      </Group>
    </Stack>
  )
}

interface OfferMatches {
  readonly id: string
  readonly covers: string
  readonly words: readonly LineWord[]
  readonly scopes: readonly Scope[]
  readonly calls: number
  readonly denied: number
}

/** A line of which nothing can be chosen says why. */
function isLocked({ words: line }: OfferMatches): boolean {
  return line.every(({ lock }) => lock !== null && lock !== 'says-what' && lock !== 'option')
}

/** What other words would have covered. The server refuses those that do not match the call. */
function useMatch(question: string, grant: string, pattern: AnswerRequest['pattern']) {
  const [asked] = useDebouncedValue(pattern, 300)
  const query = useQuery({
    queryKey: ['audit', 'match', question, grant, asked],
    queryFn: () =>
      request<OfferMatches>(
        'POST',
        `/api/approvals/${encodeURIComponent(question)}/offers/${encodeURIComponent(grant)}/match`,
        asked,
      ),
    enabled: pattern !== undefined && asked !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const isSettled = JSON.stringify(asked) === JSON.stringify(pattern) && !query.isFetching
  const error = isSettled && pattern !== undefined ? query.error : null
  return { data: query.data, error, isMatching: isSettled && query.isSuccess }
}

interface OffersProps {
  readonly question: Approval
  readonly offers: readonly OfferMatches[]
  readonly grant: string
  readonly onPick: (id: string) => void
}

function Offers({ question, offers, grant, onPick }: OffersProps) {
  const t = useWords(words)
  return (
    <Radio.Group label={t('remember')} value={grant} onChange={onPick}>
      <Stack gap="xs" mt="xs">
        {question.offers.map(({ id, label }) => (
          <Radio
            key={id}
            value={id}
            label={
              <Untrusted
                text={shortened(question, offers.find(each => each.id === id)?.covers ?? label)}
                most={400}
              />
            }
          />
        ))}
      </Stack>
    </Radio.Group>
  )
}

interface LiveProps {
  readonly question: Approval
  readonly offer: OfferMatches | undefined
  readonly error: unknown
}

function Live({ question, offer, error }: LiveProps) {
  const t = useWords(words)
  if (error !== null)
    return (
      <Alert color="red" py="xs" role="status" icon={<CircleX size={18} aria-hidden />}>
        <Untrusted text={`${t('notThisOne')} ${toShownError(error).detail}`} most={400} />
      </Alert>
    )
  if (offer === undefined) return null
  return (
    <Alert
      color={offer.denied > 0 ? 'orange' : 'gray'}
      py="xs"
      role="status"
      icon={<CircleCheck size={18} aria-hidden />}
    >
      <Text size="sm">
        {t('matches', { count: offer.calls })} {t('ofThemDenied', { count: offer.denied })} {t('andThisOne')}
      </Text>
      <Text size="xs" c="dimmed">
        <Untrusted text={shortened(question, offer.covers)} most={400} />
      </Text>
    </Alert>
  )
}

/** A folder by its own name: where it lies is on the card. */
function shortened({ cwd }: Approval, text: string): string {
  return renameFolder(text, cwd, cwd.split('/').at(-1) || cwd)
}

interface ChoiceProps<Value extends Scope | Span> {
  readonly label: string
  readonly value: Value
  readonly onChange: (value: Value) => void
  readonly of: readonly Value[]
  readonly open: readonly Value[]
}

function Choice<Value extends Scope | Span>({ label, value, onChange, of, open }: ChoiceProps<Value>) {
  const t = useWords(words)
  return (
    <Radio.Group
      label={label}
      value={value}
      onChange={next => {
        const picked = of.find(each => each === next)
        if (picked !== undefined) onChange(picked)
      }}
    >
      <Group gap="md" mt="xs">
        {of.map(each => (
          <Radio key={each} value={each} label={t(each)} disabled={!open.includes(each)} />
        ))}
      </Group>
    </Radio.Group>
  )
}
