import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import type { Approval } from '../../api/types.ts'
import { type DiffParts, DiffView } from '../../components/diff-view.tsx'
import { parseDiff } from '../../components/parse-diff.ts'
import { UntrustedBlock, useCut } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { words } from './reading/words.ts'

const MOST_LINES = 2_000

export interface ChangeProps {
  readonly question: Approval
  readonly parts: DiffParts | undefined
}

/** The difference; of a large one first how large it is. */
export function Change({ question: { input, preview = '' }, parts }: ChangeProps) {
  const t = useWords(words)
  const [opened, open] = useState(() => !isLarge(preview))
  useCut(!opened)
  if (!opened) {
    const files = parseDiff(preview).filter(({ path }) => path !== '')
    const sum = (of: 'added' | 'removed'): number => files.reduce((all, file) => all + file[of], 0)
    return (
      <Group gap="sm">
        <Text size="sm">
          {t('large', { count: files.length, added: sum('added'), removed: sum('removed') })}
        </Text>
        <Button size="compact-sm" variant="default" onClick={() => open(true)}>
          {t('open')}
        </Button>
      </Group>
    )
  }
  return (
    <>
      <DiffView diff={preview} parts={parts} />
      {isCut(preview) && (
        <>
          <Text size="sm">{t('cut')}</Text>
          <UntrustedBlock text={JSON.stringify(input, null, 2)} label={t('open')} />
        </>
      )}
    </>
  )
}

function isLarge(diff: string): boolean {
  if (isCut(diff)) return true
  const changed = parseDiff(diff).map(({ added, removed }) => added + removed)
  return changed.reduce((sum, lines) => sum + lines, 0) > MOST_LINES
}

/** As `core/unified-diff.ts` ends what is too long. Lines of files never begin like this. */
function isCut(diff: string): boolean {
  return /(?:^|\n)\[diff cut: \d+ characters more\](?:\n|$)/.test(diff)
}
