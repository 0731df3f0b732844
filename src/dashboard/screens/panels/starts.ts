import type { PanelSettings } from './types.ts'

/** What a new panel can begin with: templates with a model, and the kinds without one. */
export const STARTS = {
  empty: { prompt: '{{input}}' },
  researcher: {
    description: 'Finds sources and says what they say',
    system:
      'You are a careful researcher. You name your sources and separate what they say from what you conclude.',
    prompt: 'Find three sources about {{topic}} and summarise what they say.',
    tools: { web_search: {}, web_fetch: {} },
  },
  editor: {
    description: 'Changes code, as little as possible',
    system: 'You change as little as possible, and you read a file before you change it.',
    prompt: '{{input}}',
    tools: { read_file: {}, grep_search: {}, glob_search: {}, edit_file: { allowed_dirs: ['.'] } },
  },
  summariser: {
    description: 'Summarises files',
    system: 'You write short, exact summaries.',
    prompt: 'Read {{file}} and summarise it in five sentences.',
    tools: { read_file: {} },
  },
  text: { kind: 'text', text: '' },
  folder: { kind: 'folder', folder: '.' },
  table: { kind: 'table', text: 'item,sold\ntea,12\ncups,5\n' },
  chart: { kind: 'chart', text: 'item,sold\ntea,12\ncups,5\n' },
  diagram: { kind: 'diagram', text: 'flowchart LR\n  Idea --> Plan --> Done\n' },
} as const satisfies Readonly<Record<string, PanelSettings>>

export type StartName = keyof typeof STARTS

export const TEMPLATES = ['researcher', 'editor', 'summariser'] as const
export const CONTENT = ['text', 'folder', 'table', 'chart', 'diagram'] as const
