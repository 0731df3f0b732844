import { Button, Menu } from '@mantine/core'
import { Ellipsis, Trash2 } from 'lucide-react'
import { useLocation } from 'wouter'
import { request, type Topic } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

export interface MoreMenuProps {
  readonly name: string
  /** Of the panel or the pipeline. */
  readonly path: string
  readonly hash: string
  readonly topic: Topic
  /** Where its list is. */
  readonly list: string
}

export function MoreMenu({ name, path, hash, topic, list }: MoreMenuProps) {
  const t = useWords(words)
  const [, navigate] = useLocation()
  const remove = useAction(() => request('DELETE', `${path}?base=${encodeURIComponent(hash)}`), {
    topics: [topic],
    onDone: () => navigate(list),
  })
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
