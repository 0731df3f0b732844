import { Badge, Text } from '@mantine/core'
import type { Approval } from '../../api/types.ts'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { words as claims } from './claims/words.ts'
import { Section } from './section.tsx'
import { useContext } from './use-context.ts'
import { words } from './words.ts'

/** Where a request goes, with the host standing out: the rest of an address can say anything. */
export function RequestParts({ question: { id, access, answer } }: { question: Approval }) {
  const t = useWords(words)
  const { data } = useContext(id, answer === null)
  const requests = access.flatMap(each => (each.kind === 'network' ? [each] : []))
  if (requests.length === 0 || access.some(({ kind }) => kind === 'execute')) return null
  return (
    <Section label={t('request')}>
      {requests.map(({ method = 'GET', url }) => (
        <Text key={`${method} ${url}`} size="sm" ff="monospace">
          <Badge color="gray" mr={6}>
            {method}
          </Badge>
          <Address url={url} />
          <LeadsTo where={data?.addresses.find(each => each.url === url)?.leads_to} />
        </Text>
      ))}
    </Section>
  )
}

function Address({ url }: { url: string }) {
  const host = URL.canParse(url) ? new URL(url).host : ''
  const at = host === '' ? -1 : url.indexOf(host)
  if (at === -1) return <Untrusted text={url} most={4_096} />
  return (
    <>
      <Untrusted text={url.slice(0, at)} />
      <strong>
        <Untrusted text={host} />
      </strong>
      <Untrusted text={url.slice(at + host.length)} most={4_096} />
    </>
  )
}

const PLACES = {
  loopback: 'leadsLoopback',
  private: 'leadsPrivate',
  public: 'leadsPublic',
  name: 'leadsName',
} as const

/** What kind of address it is: a page of one's own machine is another matter than one of a stranger. */
function LeadsTo({ where }: { where: string | undefined }) {
  const t = useWords(claims)
  if (where === undefined) return null
  const isKnown = (name: string): name is keyof typeof PLACES => Object.hasOwn(PLACES, name)
  return (
    <Text size="xs" c="dimmed" ff="text">
      {t(isKnown(where) ? PLACES[where] : 'leadsReserved')}
    </Text>
  )
}
