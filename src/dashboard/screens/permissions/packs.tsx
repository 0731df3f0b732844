import { Accordion, Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { ConfigFileDrawer } from '../../components/config-file/config-file-drawer.tsx'
import { appendToml } from '../../components/config-file/toml-edit.ts'
import { ErrorCard } from '../../components/data-region.tsx'
import { UntrustedBlock } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { Report } from './report.tsx'
import { type PackName, STARTER_PACKS } from './starter-packs.ts'
import { useTrial } from './use-trial.ts'
import { words } from './words.ts'

const NAMES = Object.keys(STARTER_PACKS) as PackName[] // `as`: Object.keys widens to string

/** Each with its rules and with what it would have decided; nothing is saved before its review. */
export function StarterPacks() {
  const t = useWords(words)
  const [open, setOpen] = useState<string | null>(null)
  const [chosen, choose] = useState<PackName>()
  return (
    <section aria-label={t('packs')}>
      <Text fw={600} size="sm" mb="xs">
        {t('packs')}
      </Text>
      <Accordion variant="separated" value={open} onChange={setOpen}>
        {NAMES.map(name => (
          <Accordion.Item key={name} value={name}>
            <Accordion.Control>
              <Text fw={600} size="sm">
                {t(TITLES[name])}
              </Text>
              <Text size="sm" c="dimmed">
                {t(ABOUT[name])}
              </Text>
            </Accordion.Control>
            <Accordion.Panel>
              {open === name && <Pack name={name} onChoose={() => choose(name)} />}
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
      <ConfigFileDrawer
        layer="user"
        opened={chosen !== undefined}
        onClose={() => choose(undefined)}
        propose={text => (chosen === undefined ? text : appendToml(text, STARTER_PACKS[chosen]))}
      />
    </section>
  )
}

const TITLES = { readOnly: 'readOnlyPack', coding: 'codingPack', lockedDown: 'lockedDownPack' } as const
const ABOUT = { readOnly: 'readOnlyAbout', coding: 'codingAbout', lockedDown: 'lockedDownAbout' } as const

function Pack({ name, onChoose }: { name: PackName; onChoose: () => void }) {
  const t = useWords(words)
  const trial = useTrial(text => appendToml(text, STARTER_PACKS[name]))
  return (
    <Stack gap="sm">
      <UntrustedBlock text={STARTER_PACKS[name]} label={t(TITLES[name])} />
      <Text fw={600} size="sm">
        {t('dryRunWeek')}
      </Text>
      {trial.error != null && <ErrorCard error={trial.error} />}
      {trial.data !== undefined && <Report report={trial.data} days={7} />}
      <Group>
        <Button onClick={onChoose}>{t('review')}</Button>
      </Group>
    </Stack>
  )
}
