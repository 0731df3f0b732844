import { Button, Menu } from '@mantine/core'
import { Ellipsis, Trash2 } from 'lucide-react'
import { useLocation } from 'wouter'
import { request } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { words } from '../../components/saved/words.ts'
import { useWords } from '../../i18n/language.tsx'
import { routes } from '../../routes.ts'
import type { Pipeline } from './types.ts'
import { pipelinePath } from './use-editing.ts'

export function More({ pipeline: { name, hash } }: { pipeline: Pipeline }) {
  const t = useWords(words)
  const [, navigate] = useLocation()
  const remove = useAction(
    () => request('DELETE', `${pipelinePath(name)}?base=${encodeURIComponent(hash)}`),
    {
      topics: ['pipelines'],
      onDone: () => navigate(routes.pipelines()),
    },
  )
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" px="xs" aria-label={t('more')}>
          <Ellipsis size={16} aria-hidden />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<Trash2 size={14} aria-hidden />}
          onClick={() => {
            if (window.confirm(t('deleteSure', { name }))) remove.mutate()
          }}
        >
          {t('delete')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
