import { Button, Group, Stack } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { request } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { UntrustedBlock } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { inAddress, useUrlState } from '../../routes.ts'
import type { DynamicDetail } from './types.ts'
import { words } from './words.ts'

const CodeEditor = lazy(() => import('../../components/code-editor.tsx'))

/** A line of megabytes would stop the editor. */
const LONGEST_LINE = 10_000

/** Read-only until a person makes a new version, which is analysed and verified anew. */
export function Code({ tool }: { tool: DynamicDetail }) {
  const t = useWords(words)
  const [line] = useUrlState('line')
  const [draft, setDraft] = useState<string>()
  // What the draft began from; a model may make another version meanwhile.
  const [base, setBase] = useState(tool.hash)
  const save = useAction(
    (code: string) =>
      request('POST', `/api/dynamic-tools/${inAddress(tool.name)}/edit`, { code, hash: base }),
    { topics: ['tools'], onDone: () => setDraft(undefined) },
  )
  const plain = <UntrustedBlock text={tool.code} most={40_000} label={t('code')} />
  if (draft === undefined)
    return (
      <Stack gap="sm">
        {tool.code.split('\n').some(each => each.length > LONGEST_LINE) ? (
          plain
        ) : (
          <Suspense fallback={plain}>
            <CodeEditor
              label={t('code')}
              text={tool.code}
              {...(/^\d{1,6}$/.test(line) ? { line: Number(line) } : {})}
            />
          </Suspense>
        )}
        <Group>
          <Button
            variant="default"
            onClick={() => {
              setDraft(tool.code)
              setBase(tool.hash)
            }}
          >
            {t('edit')}
          </Button>
        </Group>
      </Stack>
    )
  return (
    <Stack gap="sm">
      <Suspense fallback={plain}>
        <CodeEditor label={t('code')} text={draft} onChange={setDraft} />
      </Suspense>
      <Group>
        <Button loading={save.isPending} disabled={draft === tool.code} onClick={() => save.mutate(draft)}>
          {t('save')}
        </Button>
        <Button variant="default" onClick={() => setDraft(undefined)}>
          {t('cancel')}
        </Button>
      </Group>
    </Stack>
  )
}
