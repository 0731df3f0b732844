import { useGet } from '../../api/api.ts'
import { DataRegion } from '../../components/data-region.tsx'
import { Page } from '../../components/page.tsx'
import { UntrustedBlock } from '../../components/untrusted.tsx'
import { StateBadge } from './pipeline-list.tsx'
import type { Pipeline } from './types.ts'

export function PipelineEditor({ name }: { name: string }) {
  const pipeline = useGet<Pipeline>('pipelines', `/api/pipelines/${encodeURIComponent(name)}`)
  return (
    <Page title={name}>
      <DataRegion query={pipeline}>
        {found => (
          <>
            <StateBadge pipeline={found} />
            <UntrustedBlock text={found.text} label="TOML" />
          </>
        )}
      </DataRegion>
    </Page>
  )
}
