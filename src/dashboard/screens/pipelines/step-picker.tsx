import { Modal, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import {
  ChartColumn,
  FileText,
  Folder,
  GitBranch,
  Hammer,
  type LucideIcon,
  Network,
  Search,
  Shuffle,
  Workflow,
} from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { useGet } from '../../api/api.ts'
import type { Tool } from '../../api/types.ts'
import { isEnter } from '../../components/is-enter.ts'
import { iconOfKind } from '../../components/panel-kind/panel-kind.tsx'
import { words as showWords } from '../../components/show/words.ts'
import { Untrusted } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { words as flow } from './flow/words.ts'
import type { Step } from './types.ts'
import { usePanels } from './use-panels.ts'
import { words } from './words.ts'

interface Choice {
  readonly key: string
  readonly label: string
  readonly about: string
  readonly icon: LucideIcon
  readonly step: Omit<Step, 'id'>
  readonly wish: string
}

/** What a new step does. Typing filters, arrows move, Enter takes. */
export function StepPicker({
  onPick,
  onClose,
}: {
  onPick: (step: Omit<Step, 'id'>, wish: string) => void
  onClose: () => void
}) {
  const t = useWords(words)
  const say = useWords(flow)
  const show = useWords(showWords)
  const tools = useGet<Tool[]>('tools', '/api/tools').data ?? []
  const panels = usePanels() ?? []
  const pipelines = useGet<{ name: string }[]>('pipelines', '/api/pipelines').data ?? []
  const [filter, setFilter] = useState('')
  const [index, setIndex] = useState(0)
  const all: readonly Choice[] = [
    ...panels.map(({ name, kind, settings }) => ({
      key: `panel ${name}`,
      label: name,
      about: settings?.description ?? t('panel'),
      icon: iconOfKind(kind ?? 'ai'),
      step: { panel: name },
      wish: name,
    })),
    {
      key: 'text',
      label: t('text'),
      about: t('textAbout'),
      icon: FileText,
      step: { text: '' },
      wish: 'text',
    },
    {
      key: 'folder',
      label: t('folder'),
      about: t('folderAbout'),
      icon: Folder,
      step: { folder: '.' },
      wish: 'folder',
    },
    {
      key: 'chart',
      label: show('chart'),
      about: show('chartAbout'),
      icon: ChartColumn,
      step: { transform: '', show: 'chart' },
      wish: 'chart',
    },
    {
      key: 'diagram',
      label: show('diagram'),
      about: show('diagramAbout'),
      icon: Network,
      step: { text: '', show: 'diagram' },
      wish: 'diagram',
    },
    {
      key: 'condition',
      label: say('condition'),
      about: say('conditionAbout'),
      icon: GitBranch,
      step: { condition: 'contains:' },
      wish: 'check',
    },
    {
      key: 'transform',
      label: say('transform'),
      about: say('transformAbout'),
      icon: Shuffle,
      step: { transform: '' },
      wish: 'value',
    },
    ...pipelines.map(({ name }) => ({
      key: `pipeline ${name}`,
      label: name,
      about: say('subPipeline'),
      icon: Workflow,
      step: { pipeline: name },
      wish: name,
    })),
    ...tools.map(({ name, definition }) => ({
      key: `tool ${name}`,
      label: name,
      about: definition.description.split(/[.;\n]/)[0] ?? '',
      icon: Hammer,
      step: { tool: name, args: {} },
      wish: name,
    })),
  ]
  const wanted = filter.toLowerCase()
  const shown = all.filter(({ label, about }) => `${label} ${about}`.toLowerCase().includes(wanted))
  const at = Math.min(index, Math.max(0, shown.length - 1))
  const take = (choice: Choice | undefined): void => {
    if (choice !== undefined) onPick(choice.step, choice.wish)
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setIndex(Math.max(0, Math.min(shown.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1))))
    } else if (isEnter(event.nativeEvent)) {
      event.preventDefault()
      take(shown[at])
    }
  }
  return (
    <Modal opened onClose={onClose} title={t('addStep')} closeButtonProps={{ 'aria-label': t('close') }}>
      <Stack gap="xs">
        <TextInput
          data-autofocus
          role="combobox"
          aria-expanded
          aria-controls="step-choices"
          aria-activedescendant={`choice-${at}`}
          aria-label={t('findStep')}
          placeholder={t('findStep')}
          leftSection={<Search size={15} aria-hidden />}
          value={filter}
          onChange={event => {
            setFilter(event.currentTarget.value)
            setIndex(0)
          }}
          onKeyDown={onKey}
        />
        <div
          id="step-choices"
          role="listbox"
          aria-label={t('addStep')}
          style={{ maxHeight: '50vh', overflowY: 'auto' }}
        >
          {shown.map((choice, number) => (
            <UnstyledButton
              key={choice.key}
              id={`choice-${number}`}
              role="option"
              aria-selected={number === at}
              tabIndex={-1}
              w="100%"
              px="sm"
              py={7}
              ref={(element: HTMLButtonElement | null) => {
                if (number === at) element?.scrollIntoView({ block: 'nearest' })
              }}
              style={{
                borderRadius: 6,
                background: number === at ? 'var(--mantine-color-default-hover)' : undefined,
              }}
              onMouseEnter={() => setIndex(number)}
              onClick={() => take(choice)}
            >
              <choice.icon size={15} aria-hidden style={{ verticalAlign: '-2px', marginInlineEnd: 8 }} />
              <Text size="sm" fw={600} component="span">
                <Untrusted text={choice.label} most={60} />
              </Text>
              <Text size="xs" c="dimmed" component="span" ml={8}>
                <Untrusted text={choice.about} most={90} />
              </Text>
            </UnstyledButton>
          ))}
        </div>
      </Stack>
    </Modal>
  )
}
