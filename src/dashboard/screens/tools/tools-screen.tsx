import { Tabs } from '@mantine/core'
import { useParams } from 'wouter'
import { useGet } from '../../api/api.ts'
import { DataRegion } from '../../components/data-region.tsx'
import { Page } from '../../components/page.tsx'
import { useWords } from '../../i18n/language.tsx'
import { useUrlChoice } from '../../routes.ts'
import { DynamicList } from './dynamic-list.tsx'
import { DynamicView } from './dynamic-view.tsx'
import { ToolList } from './tool-list.tsx'
import { ToolView } from './tool-view.tsx'
import type { DynamicList as Dynamic } from './types.ts'
import { words } from './words.ts'

export default function ToolsScreen() {
  const { name } = useParams<{ name?: string }>()
  return name === undefined ? <Lists /> : <OneTool key={name} name={name} />
}

function Lists() {
  const t = useWords(words)
  const [tab, setTab] = useUrlChoice('tab', ['tools', 'mcp', 'dynamic'], 'tools')
  return (
    <Page title={t('title')} intro={t('intro')}>
      <Tabs value={tab} onChange={value => setTab(value ?? 'tools')} keepMounted={false}>
        <Tabs.List aria-label={t('title')}>
          <Tabs.Tab value="tools">{t('builtIn')}</Tabs.Tab>
          <Tabs.Tab value="mcp">{t('ofServers')}</Tabs.Tab>
          <Tabs.Tab value="dynamic">{t('dynamic')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="tools" pt="md">
          <ToolList from="kogu" />
        </Tabs.Panel>
        <Tabs.Panel value="mcp" pt="md">
          <ToolList from="servers" />
        </Tabs.Panel>
        <Tabs.Panel value="dynamic" pt="md">
          <DynamicList />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

/** A tool that a model wrote has more to show than one that was there before. */
function OneTool({ name }: { name: string }) {
  const made = useGet<Dynamic>('tools', '/api/dynamic-tools')
  return (
    <DataRegion query={made}>
      {({ items }) =>
        items.some(item => item.name === name || item.id === name) ? (
          <DynamicView name={name} />
        ) : (
          <ToolView name={name} />
        )
      }
    </DataRegion>
  )
}
