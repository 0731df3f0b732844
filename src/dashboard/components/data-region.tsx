import { Alert, Button, Code, CopyButton, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { CircleAlert, RefreshCw } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { toShownError } from '../api/api.ts'
import { useFormat } from '../i18n/format.ts'
import { useWords } from '../i18n/language.tsx'
import { useErrorTitle } from './error-title/error-title.ts'
import { Untrusted } from './untrusted.tsx'
import { words } from './words.ts'

/** What every query has, of one answer or of pages. */
interface Loaded<T> {
  readonly data: T | undefined
  readonly error: unknown
  readonly isPending: boolean
  /** When the shown data was loaded. */
  readonly dataUpdatedAt: number
  readonly refetch: () => unknown
}

export interface DataRegionProps<T> {
  readonly query: Loaded<T>
  readonly isEmpty?: (data: T) => boolean
  /** What this is, and what to do first. */
  readonly empty?: ReactNode
  readonly skeleton?: ReactNode
  readonly children: (data: T) => ReactNode
}

/** Loading, empty, failed or out of date: the four states of everything that is loaded. */
export function DataRegion<T>({ query, isEmpty, empty, skeleton, children }: DataRegionProps<T>) {
  const t = useWords(words)
  const format = useFormat()
  const { data, error, isPending, dataUpdatedAt, refetch } = query
  if (data !== undefined) {
    return (
      <>
        {error != null && (
          <Alert color="yellow" mb="sm" py="xs" role="status">
            <Group justify="space-between">
              <Text size="sm">{t('notUpdating', { time: format.time(dataUpdatedAt) })}</Text>
              <Button size="compact-sm" variant="default" onClick={() => void refetch()}>
                {t('retry')}
              </Button>
            </Group>
          </Alert>
        )}
        {isEmpty?.(data) === true ? empty : children(data)}
      </>
    )
  }
  if (error != null) return <ErrorCard error={error} onRetry={() => void refetch()} />
  return isPending ? <Late>{skeleton ?? <Rows />}</Late> : null
}

/** A flash of grey is worse than nothing for what takes no time. */
function Late({ children }: { children: ReactNode }) {
  const t = useWords(words)
  const [shown, show] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => show(true), 200)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div role="status" aria-busy="true" aria-label={t('loading')}>
      {shown ? children : null}
    </div>
  )
}

function Rows() {
  return (
    <Stack gap="xs">
      {[0, 1, 2, 3, 4].map(row => (
        <Skeleton key={row} height={36} />
      ))}
    </Stack>
  )
}

/** What failed, what to do, and what to tell somebody who can help. */
export function ErrorCard({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const t = useWords(words)
  const titleOf = useErrorTitle()
  const { detail, hint, code, requestId, errors } = toShownError(error)
  const details = JSON.stringify({ code, detail, hint, request_id: requestId, errors })
  return (
    <Alert color="red" role="alert" icon={<CircleAlert size={18} aria-hidden />} title={titleOf(code)}>
      <Stack gap="xs">
        <Text size="sm">
          <Untrusted text={detail} most={2_000} />
        </Text>
        {errors.map(({ pointer, message }) => (
          <Text size="sm" key={`${pointer} ${message}`}>
            <Code>{pointer}</Code> <Untrusted text={message} />
          </Text>
        ))}
        {hint !== null && (
          <Text size="sm">
            <Untrusted text={hint} most={1_000} />
          </Text>
        )}
        <Group gap="xs">
          {onRetry !== undefined && (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<RefreshCw size={14} aria-hidden />}
              onClick={onRetry}
            >
              {t('retry')}
            </Button>
          )}
          <CopyButton value={details}>
            {({ copied, copy }) => (
              <Button size="compact-sm" variant="default" onClick={copy}>
                {copied ? t('copied') : t('copyDetails')}
              </Button>
            )}
          </CopyButton>
          {requestId !== '' && (
            <Text size="xs" c="dimmed">
              {code} · {t('request', { id: requestId.slice(0, 8) })}
            </Text>
          )}
        </Group>
      </Stack>
    </Alert>
  )
}

export interface EmptyProps {
  readonly icon?: ReactNode
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
  /** The document of the package that explains it. By name: the server has none, and the page asks no other. */
  readonly guide?: Guide
}

type Guide =
  | 'agents'
  | 'audit'
  | 'dashboard'
  | 'dynamic-tools'
  | 'files'
  | 'mcp'
  | 'permissions'
  | 'pipelines'

export function Empty({ icon, title, children, action, guide }: EmptyProps) {
  const t = useWords(words)
  return (
    <Stack align="center" gap="sm" py={48} px="md" ta="center">
      <div style={{ color: 'var(--mantine-color-dimmed)' }}>{icon}</div>
      <Title order={2}>{title}</Title>
      {children !== undefined && (
        <Text c="dimmed" maw={520} component="div">
          {children}
        </Text>
      )}
      {action}
      {guide !== undefined && (
        <Text size="sm" c="dimmed">
          {t('readMore', { file: `docs/${guide}.md` })}
        </Text>
      )}
    </Stack>
  )
}
