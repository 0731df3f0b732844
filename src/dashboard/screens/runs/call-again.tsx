import { Button, Modal } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { lazy, Suspense } from 'react'
import { useGet } from '../../api/api.ts'
import type { Tool } from '../../api/types.ts'
import { DataRegion } from '../../components/data-region.tsx'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { inAddress } from '../../routes.ts'
import { words } from './words.ts'

const TryCall = lazy(() =>
  import('../../components/try-call/try-call.tsx').then(({ TryCall: each }) => ({ default: each })),
)

/** The same call by hand, with an input that can be changed first. It is a call of its own and no part of the run. */
export function CallAgain({ tool, input }: { tool: string; input: unknown }) {
  const t = useWords(words)
  const [opened, again] = useDisclosure(false)
  const query = useGet<Tool>('tools', `/api/tools/${inAddress(tool)}`, { enabled: opened })
  const given = typeof input === 'object' && input !== null ? { ...input } : {}
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={again.open}>
        {t('callAgain')}
      </Button>
      <Modal
        opened={opened}
        onClose={again.close}
        size="xl"
        title={<Untrusted text={t('callAgainTitle', { tool })} most={120} />}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <DataRegion query={query}>
          {({ name, definition }) => (
            <Suspense fallback={null}>
              <TryCall tool={name} schema={definition.input_schema} input={given} />
            </Suspense>
          )}
        </DataRegion>
      </Modal>
    </>
  )
}
