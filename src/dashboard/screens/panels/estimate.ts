import { fillText } from './prompt-variables.ts'
import type { Model, PanelSettings } from './types.ts'

/** In most languages a token is longer than this. */
const BYTES_PER_TOKEN = 3

/**
 * What one answer costs at most: the prompts as they would be sent, and the longest answer. With tools there are several
 * answers, whose number and cost the limits of the panel bound. Null: it cannot be known.
 */
export function estimateAnswer(
  { system = '', prompt = '{{input}}', max_tokens }: PanelSettings,
  values: Readonly<Record<string, string>>,
  model: Pick<Model, 'price' | 'max_output'> | undefined,
): { costUsd: number | null; tokens: number | null } {
  const tokens = max_tokens ?? model?.max_output ?? null
  const price = model?.price ?? null
  if (price === null || tokens === null) return { costUsd: null, tokens }
  const sent = new TextEncoder().encode(system + fillText(prompt, values)).length / BYTES_PER_TOKEN
  return { costUsd: (sent * price.input + tokens * price.output) / 1e6, tokens }
}
