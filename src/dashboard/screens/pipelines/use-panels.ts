import { useGet } from '../../api/api.ts'
import type { PanelKind } from '../../components/panel-kind/panel-kind.tsx'

/** As much of a panel as a step of a pipeline needs to know. */
interface StepPanel {
  readonly name: string
  readonly kind: PanelKind | null
  readonly state: string
  readonly variables: readonly string[]
  readonly settings: { readonly description?: string } | null
}

/** Undefined until they are loaded. */
export function usePanels(): readonly StepPanel[] | undefined {
  return useGet<StepPanel[]>('panels', '/api/panels').data
}
