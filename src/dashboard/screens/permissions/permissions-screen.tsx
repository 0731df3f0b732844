import { Tabs } from '@mantine/core'
import { useGet } from '../../api/api.ts'
import { Page } from '../../components/page.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { ConfigProblem } from './config-problem.tsx'
import { DefaultMode } from './default-mode.tsx'
import { DryRunTab } from './dry-run.tsx'
import { EffectiveTab } from './effective.tsx'
import { Grants } from './grants.tsx'
import { Rules } from './rules.tsx'
import { TestCall } from './test-call.tsx'
import type { Grant } from './types.ts'
import { words } from './words.ts'

export default function PermissionsScreen() {
  const t = useWords(words)
  const [tab, setTab] = useUrlState('tab', 'rules')
  const grants = useGet<Grant[]>('grants', '/api/grants')
  return (
    <Page title={t('title')} intro={t('intro')} actions={<DefaultMode />}>
      <ConfigProblem />
      <Tabs value={tab} onChange={value => setTab(value ?? 'rules')} keepMounted={false}>
        <Tabs.List aria-label={t('title')}>
          {(['rules', 'dryRun', 'test', 'grants', 'effective'] as const).map(value => (
            <Tabs.Tab key={value} value={value}>
              {t(value)}
              {value === 'grants' && (grants.data ?? []).length > 0 && ` (${grants.data?.length})`}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="rules" pt="md">
          <Rules />
        </Tabs.Panel>
        <Tabs.Panel value="dryRun" pt="md">
          <DryRunTab />
        </Tabs.Panel>
        <Tabs.Panel value="test" pt="md">
          <TestCall />
        </Tabs.Panel>
        <Tabs.Panel value="grants" pt="md">
          <Grants />
        </Tabs.Panel>
        <Tabs.Panel value="effective" pt="md">
          <EffectiveTab />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
