import { useGet } from '../../api/api.ts'
import { DataRegion } from '../../components/data-region.tsx'
import { Page } from '../../components/page.tsx'
import { UntrustedBlock } from '../../components/untrusted.tsx'
import { TrustBadge } from './trust-badge.tsx'
import type { Panel } from './types.ts'

export function PanelEditor({ name }: { name: string }) {
  const panel = useGet<Panel>('panels', `/api/panels/${encodeURIComponent(name)}`)
  return (
    <Page title={name}>
      <DataRegion query={panel}>
        {({ state, text = '' }) => (
          <>
            <TrustBadge state={state} />
            <UntrustedBlock text={text} label="TOML" />
          </>
        )}
      </DataRegion>
    </Page>
  )
}
