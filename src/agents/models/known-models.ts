import type { Capabilities, Price } from '../model.ts'

// What is known about models without asking anybody. Prices are USD per million tokens, from the vendors' public lists on
// the date below. A model that is not here has an unknown price, which is shown as unknown; [providers.NAME.models] in the
// configuration says what is missing or has changed.

export const PRICES_OF = '2025-11-30'

interface Known {
  readonly context: number
  readonly maxOutput: number
  readonly price: Price
  readonly temperature?: false
}

const price = (input: number, cached: number, output: number, cacheWrite = input): Price => ({
  input,
  cached,
  cacheWrite,
  output,
})

const claude = (input: number, output: number, context = 200_000, maxOutput = 64_000): Known => ({
  context,
  maxOutput,
  price: price(input, input / 10, output, input * 1.25),
})

const gpt5 = (input: number, output: number): Known => ({
  context: 400_000,
  maxOutput: 128_000,
  price: price(input, input / 10, output),
  temperature: false,
})

const gemini = (input: number, output: number): Known => ({
  context: 1_048_576,
  maxOutput: 65_536,
  price: price(input, input / 10, output),
})

/** By the start of the model's name, the longest first. */
const KNOWN: Readonly<Record<string, readonly (readonly [string, Known])[]>> = {
  anthropic: [
    ['claude-opus-4-5', claude(5, 25)],
    ['claude-opus-4-1', claude(15, 75, 200_000, 32_000)],
    ['claude-sonnet-4-5', claude(3, 15)],
    ['claude-haiku-4-5', claude(1, 5)],
  ],
  openai: [
    ['gpt-5-mini', gpt5(0.25, 2)],
    ['gpt-5-nano', gpt5(0.05, 0.4)],
    ['gpt-5.1', gpt5(1.25, 10)],
    ['gpt-4.1-mini', { context: 1_047_576, maxOutput: 32_768, price: price(0.4, 0.1, 1.6) }],
    ['gpt-4.1', { context: 1_047_576, maxOutput: 32_768, price: price(2, 0.5, 8) }],
  ],
  google: [
    ['gemini-2.5-flash-lite', gemini(0.1, 0.4)],
    ['gemini-2.5-flash', gemini(0.3, 2.5)],
    ['gemini-2.5-pro', gemini(1.25, 10)],
  ],
}

/** Exact names whose longer namesakes are other models. */
const EXACT: Readonly<Record<string, Known>> = { 'openai/gpt-5': gpt5(1.25, 10) }

/** What is taken when a key is there and no model was named. */
export const DEFAULT_MODELS = {
  anthropic: 'claude-sonnet-4-5',
  openai: 'gpt-5',
  google: 'gemini-2.5-pro',
} as const

export function knownModel(kind: string, name: string): { capabilities: Capabilities; price: Price | null } {
  // A dated name is the same model: claude-sonnet-4-5-20250929.
  const known =
    EXACT[`${kind}/${name.replace(/-\d{4}-?\d{2}-?\d{2}$/, '')}`] ??
    KNOWN[kind]?.find(
      ([start]) => name === start || (/^-\d{4}/.test(name.slice(start.length)) && name.startsWith(start)),
    )?.[1]
  return {
    capabilities: {
      context: known?.context,
      maxOutput: known?.maxOutput,
      tools: true,
      images: kind !== 'openai-compatible',
      temperature: known?.temperature ?? true,
    },
    price: known?.price ?? null,
  }
}

/** The models of one kind of vendor whose price is known; others work as well. */
export function listKnown(kind: string): string[] {
  const exact = Object.keys(EXACT).filter(name => name.startsWith(`${kind}/`))
  return [...exact.map(name => name.slice(kind.length + 1)), ...(KNOWN[kind] ?? []).map(([name]) => name)]
}
