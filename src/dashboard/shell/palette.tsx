import { useMantineColorScheme } from '@mantine/core'
import { Spotlight, type SpotlightActionGroupData } from '@mantine/spotlight'
import { Activity, Languages, Moon, PanelsTopLeft, Play, Search, Square, Sun } from 'lucide-react'
import { useLocation } from 'wouter'
import { request, useGet } from '../api/api.ts'
import type { Page, Run } from '../api/types.ts'
import { useAction } from '../api/use-action.ts'
import { visibleLine } from '../components/untrusted.tsx'
import { useLanguage, useWords } from '../i18n/language.tsx'
import { routes } from '../routes.ts'
import { SCREENS } from './screens.ts'
import { words } from './words.ts'

export function Palette() {
  const t = useWords(words)
  const [, navigate] = useLocation()
  const { setColorScheme } = useMantineColorScheme()
  const { setLanguage } = useLanguage()
  const panels = useGet<{ name: string }[]>('panels', '/api/panels').data ?? []
  const runs = useGet<Page<Run>>('runs', '/api/runs?limit=10').data?.items ?? []
  const stop = useAction((id: string) => request('POST', `/api/runs/${encodeURIComponent(id)}/stop`, {}), {
    topics: ['runs'],
  })
  const groups: SpotlightActionGroupData[] = [
    {
      group: t('goTo'),
      actions: SCREENS.map(({ key, path, icon: Icon }) => ({
        id: key,
        label: t(key),
        leftSection: <Icon size={18} aria-hidden />,
        onClick: () => navigate(path),
      })),
    },
    {
      group: t('panels'),
      actions: panels.map(({ name }) => ({
        id: `panel-${name}`,
        label: visibleLine(name, 80),
        leftSection: <PanelsTopLeft size={18} aria-hidden />,
        onClick: () => navigate(routes.panel(name)),
      })),
    },
    {
      group: t('runs'),
      actions: runs.map(({ id, task }) => ({
        id: `run-${id}`,
        label: visibleLine(task, 80),
        leftSection: <Activity size={18} aria-hidden />,
        onClick: () => navigate(routes.run(id)),
      })),
    },
    {
      group: t('commands'),
      actions: [
        ...panels.map(({ name }) => ({
          id: `run-panel-${name}`,
          label: t('runPanel', { name: visibleLine(name, 80) }),
          leftSection: <Play size={18} aria-hidden />,
          onClick: () => navigate(`${routes.panel(name)}?part=try`),
        })),
        ...runs
          .filter(({ status }) => status === 'running' || status === 'pending')
          .map(({ id, task }) => ({
            id: `stop-${id}`,
            label: t('stopRun', { task: visibleLine(task, 80) }),
            leftSection: <Square size={18} aria-hidden />,
            onClick: () => stop.mutate(id),
          })),
        {
          id: 'light',
          label: t('light'),
          leftSection: <Sun size={18} aria-hidden />,
          onClick: () => setColorScheme('light'),
        },
        {
          id: 'dark',
          label: t('dark'),
          leftSection: <Moon size={18} aria-hidden />,
          onClick: () => setColorScheme('dark'),
        },
        {
          id: 'en',
          label: 'English',
          leftSection: <Languages size={18} aria-hidden />,
          onClick: () => setLanguage('en'),
        },
        {
          id: 'ja',
          label: '日本語',
          leftSection: <Languages size={18} aria-hidden />,
          onClick: () => setLanguage('ja'),
        },
        {
          id: 'ko',
          label: '한국어',
          leftSection: <Languages size={18} aria-hidden />,
          onClick: () => setLanguage('ko'),
        },
      ],
    },
  ]
  return (
    <Spotlight
      actions={groups}
      nothingFound={t('noResults')}
      highlightQuery
      limit={30}
      shortcut={['mod + K']}
      searchProps={{
        leftSection: <Search size={18} aria-hidden />,
        placeholder: t('search'),
        'aria-label': t('search'),
      }}
    />
  )
}
