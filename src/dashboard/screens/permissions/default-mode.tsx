import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useGet } from '../../api/api.ts'
import { ConfigFileDrawer } from '../../components/config-file/config-file-drawer.tsx'
import { setTomlKey } from '../../components/config-file/toml-edit.ts'
import { useWords } from '../../i18n/language.tsx'
import type { Effective } from './types.ts'
import { words } from './words.ts'

const MODES = ['ask', 'accept-edits', 'read-only', 'auto'] as const

/** What counts where no rule speaks; another choice is reviewed as a change of the person's own file. */
export function DefaultMode() {
  const t = useWords(words)
  const config = useGet<Effective>('settings', '/api/config')
  const [wanted, want] = useState<string>()
  return (
    <>
      <NativeSelect
        size="xs"
        label={t('modeDefault')}
        data={MODES.map(value => ({ value, label: t(`mode_${value}`) }))}
        value={config.data?.mode ?? 'ask'}
        onChange={event => want(event.currentTarget.value)}
      />
      <ConfigFileDrawer
        layer="user"
        opened={wanted !== undefined}
        onClose={() => want(undefined)}
        propose={text => setTomlKey(text, '', 'mode', wanted ?? 'ask')}
      />
    </>
  )
}
