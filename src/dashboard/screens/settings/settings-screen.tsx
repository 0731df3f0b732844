import { Tabs } from '@mantine/core'
import { useGet } from '../../api/api.ts'
import { Page } from '../../components/page.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useUrlState } from '../../routes.ts'
import { Appearance } from './appearance.tsx'
import { Diagnostics } from './diagnostics.tsx'
import { OwnData } from './own-data.tsx'
import { ProjectTrust } from './project-trust.tsx'
import { Settings } from './settings-table.tsx'
import type { Config } from './types.ts'
import { words } from './words.ts'

export default function SettingsScreen() {
  const t = useWords(words)
  const [section, setSection] = useUrlState('section', 'settings')
  const config = useGet<Config>('settings', '/api/config')
  const { version = '', workspace = '' } = config.data ?? {}
  return (
    <Page title={t('title')} intro={t('intro', { version, workspace })}>
      <Tabs value={section} onChange={value => setSection(value ?? 'settings')} keepMounted={false}>
        <Tabs.List aria-label={t('title')}>
          <Tabs.Tab value="settings">{t('settings')}</Tabs.Tab>
          <Tabs.Tab value="trust">{t('trust')}</Tabs.Tab>
          <Tabs.Tab value="diagnostics">{t('diagnostics')}</Tabs.Tab>
          <Tabs.Tab value="data">{t('data')}</Tabs.Tab>
          <Tabs.Tab value="appearance">{t('appearance')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="settings" pt="md">
          <Settings config={config} />
        </Tabs.Panel>
        <Tabs.Panel value="trust" pt="md">
          <ProjectTrust />
        </Tabs.Panel>
        <Tabs.Panel value="diagnostics" pt="md">
          <Diagnostics />
        </Tabs.Panel>
        <Tabs.Panel value="data" pt="md">
          <OwnData />
        </Tabs.Panel>
        <Tabs.Panel value="appearance" pt="md">
          <Appearance />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
