import { Stack, Text } from '@mantine/core'
import { ShownOutput } from '../../components/show/shown-output.tsx'
import { UntrustedBlock } from '../../components/untrusted.tsx'
import { useWords } from '../../i18n/language.tsx'
import { words as pinWords } from './pin/words.ts'
import { StepState } from './step-state.tsx'
import type { PipelineRun, Step } from './types.ts'
import { words } from './words.ts'

/** What a step handed over in a run. */
export function StepOutput({ run, step, show }: { run: PipelineRun; step: string; show: Step['show'] }) {
  const t = useWords(words)
  const pin = useWords(pinWords)
  const own = run.steps[step]
  if (own === undefined)
    return (
      <Text c="dimmed" size="sm">
        {t('noOutput')}
      </Text>
    )
  return (
    <Stack gap="sm">
      <StepState run={run} step={step} />
      {show !== undefined && <ShownOutput show={show} output={own} />}
      {own.text !== undefined && <UntrustedBlock text={own.text} label={t('lastOutput')} />}
      {own.data !== undefined && own.data !== null && (
        <>
          <Text size="sm" fw={600}>
            {t('data')}
          </Text>
          <UntrustedBlock text={JSON.stringify(own.data, null, 2)} label={t('data')} />
        </>
      )}
      <details>
        <summary>{pin('raw')}</summary>
        <UntrustedBlock text={JSON.stringify(own, null, 2)} label={pin('raw')} />
      </details>
    </Stack>
  )
}
