import { ChartColumn, FileText, Folder, type LucideIcon, Network, PanelsTopLeft, Table2 } from 'lucide-react'
import { useWords } from '../../i18n/language.tsx'
import { words } from './words.ts'

/** What a panel is: a prompt with a model, a text, a folder, or something drawn. */
export type PanelKind = 'ai' | 'text' | 'folder' | 'table' | 'chart' | 'diagram'

const ICONS: Readonly<Record<PanelKind, LucideIcon>> = {
  ...{ ai: PanelsTopLeft, text: FileText, folder: Folder },
  ...{ table: Table2, chart: ChartColumn, diagram: Network },
}

export function iconOfKind(kind: PanelKind): LucideIcon {
  return ICONS[kind]
}

export function useKindName(): (kind: PanelKind) => string {
  return useWords(words)
}

export function PanelKindName({ kind }: { kind: PanelKind }) {
  const name = useKindName()
  const Icon = iconOfKind(kind)
  return (
    <span style={{ whiteSpace: 'nowrap' }}>
      <Icon size={15} aria-hidden style={{ verticalAlign: '-2px', marginInlineEnd: 6 }} />
      {name(kind)}
    </span>
  )
}

/** How a panel of this kind is drawn, if it is. */
export function drawnAs(kind: PanelKind | null | undefined): 'table' | 'chart' | 'diagram' | undefined {
  return kind === 'table' || kind === 'chart' || kind === 'diagram' ? kind : undefined
}
