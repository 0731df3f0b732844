import { userText } from '../../agents/messages.ts'
import { costOf, ModelError, totalTokens } from '../../agents/model.ts'
import { knownModel, PRICES_OF } from '../../agents/models/known-models.ts'
import { toVisible } from '../../core/visible.ts'
import { openModels } from '../../models.ts'
import { type Command, type CommandContext, unknownVerb } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { loadForCommand } from '../open-runtime.ts'
import { table } from '../output.ts'
import { exitCode } from '../work-and-tell.ts'

const VERBS = ['list', 'test', 'default'] as const

export const models: Command = {
  help: `
Models and the vendors they come from.

  kogu models list
  kogu models test anthropic/claude-haiku-4-5
  kogu models default

  kogu models list         vendors, where Kogu looks for their keys, and models with known prices
  kogu models test [ID]    send one short request; prints its time and cost
  kogu models default [ID] show the default model; with ID, set it in your own configuration

Any model of a vendor works: ID is provider/model. Servers that speak OpenAI's Chat format (Ollama, vLLM, LM Studio,
OpenRouter) are [providers.NAME] kind = "openai-compatible" with a base_url. Keys are read from the environment, a file, the
keychain or a command, and never shown.
`,
  options: {},
  words: { list: 1, test: 2, default: 2 },
  async run(context) {
    const [verb = 'list', id] = context.positionals
    if (!VERBS.some(known => known === verb)) throw unknownVerb('models', verb, VERBS)
    if (verb === 'test') return test(context, id)
    if (verb === 'default') return id === undefined ? showDefault(context) : setDefault(context, id)
    return list(context)
  },
}

function list(context: CommandContext): number {
  const { output, environment } = context
  const found = openModels(loadForCommand(context), environment)
  const rows = found.list().flatMap(({ vendor, models: names }) => {
    const key =
      vendor.keyPlace === null ? 'no key needed' : `${vendor.keyPlace}${vendor.hasKey ? '' : ' (not set)'}`
    return names.map(name => {
      const { price: known, capabilities } = knownModel(vendor.kind, name)
      const own = Object.hasOwn(vendor.models, name) ? vendor.models[name] : undefined
      const price = own?.price ?? known
      return {
        id: `${vendor.name}/${name}`,
        key,
        price,
        context: own?.context ?? capabilities.context ?? null,
      }
    })
  })
  if (output.json) output.object({ prices_of: PRICES_OF, default: found.defaultId() ?? null, models: rows })
  else {
    const shown = rows.map(({ id, key, price, context: size }) => [
      id,
      price === null ? 'price unknown' : `$${price.input} in, $${price.output} out per million`,
      size === null ? '' : `${Math.round(size / 1000)}k`,
      key,
    ])
    output.data(table(shown))
    output.note(`Prices of ${PRICES_OF}, or your own. Default: ${found.defaultId() ?? 'none; set a key'}`)
  }
  return EXIT.ok
}

/** As `kogu config set defaults.model` does it, once it is known that there is such a vendor. */
async function setDefault(context: CommandContext, id: string): Promise<number> {
  openModels(loadForCommand(context), context.environment).find(id)
  const { changeConfig } = await import('../config-change.ts')
  return changeConfig({ ...context, positionals: ['set', 'defaults.model', id] }, 'set')
}

function showDefault(context: CommandContext): number {
  const { output, environment } = context
  const id = openModels(loadForCommand(context), environment).defaultId()
  if (output.json) output.object({ default: id ?? null })
  else if (id === undefined) output.note('There is none: no key was found and [defaults] names no model.')
  else output.data(id)
  return id === undefined ? EXIT.credentials : EXIT.ok
}

async function test(context: CommandContext, id: string | undefined): Promise<number> {
  const { output, environment, signal } = context
  const found = openModels(loadForCommand(context), environment)
  // A vendor's name alone means the model it would use by itself.
  const listed = found.list().find(({ vendor }) => vendor.name === id)
  if (id === undefined && found.defaultId() === undefined) return showDefault(context)
  const model = found.find(listed === undefined ? id : `${id}/${listed.models[0] ?? ''}`)
  const started = performance.now()
  try {
    const { content, usage } = await model.respond({
      system: '',
      messages: [userText('Answer with the word: ready')],
      tools: [],
      maxTokens: 16,
      signal,
    })
    const ms = Math.round(performance.now() - started)
    const cost = costOf(usage, model.price)
    const text = content.flatMap(block => (block.type === 'text' ? [block.text] : [])).join('')
    if (output.json)
      output.object({ ok: true, model: model.id, ms, tokens: totalTokens(usage), cost_usd: cost, text })
    else {
      const price = cost === null ? 'cost unknown' : `$${cost.toFixed(6)}`
      output.data(`ok  ${model.id}  ${ms} ms  ${totalTokens(usage)} tokens  ${price}  ${toVisible(text)}`)
    }
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    const { kind, message, hint } = error
    if (output.json)
      output.object({ ok: false, model: model.id, error: { code: kind, message, hint: hint ?? null } })
    output.problem(`${toVisible(message)}${hint === undefined ? '' : `\n${hint}`}`)
    return exitCode({ status: 'failed', stopReason: 'error', errorKind: kind }, false)
  }
}
