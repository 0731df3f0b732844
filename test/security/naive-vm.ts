// The obvious way to run model-written code, which the attacks are shown to work against: `node:vm` in the host itself,
// with the standard functions put into the context, and a time limit by Promise.race. Told by its parent what to run.
import { createContext, Script } from 'node:vm'
import { ATTACKS } from './dynamic-attacks.ts'

const [numbers = '', params = '{}'] = process.argv.slice(2)
const input = JSON.parse(params)
const log: unknown[] = []
const consoleWrapper = {
  log: (...values: unknown[]) => void log.push(...values),
  warn: (...values: unknown[]) => void log.push(...values),
}
const kogu = { callTool: async (name: string) => Promise.reject(new Error(`no tool ${name}`)) }

async function run(body: string, given: unknown): Promise<unknown> {
  const context = createContext({
    ...{
      console: consoleWrapper,
      kogu,
      setTimeout,
      setInterval,
      queueMicrotask,
      structuredClone,
      URL,
      URLSearchParams,
    },
    ...{
      atob,
      btoa,
      AbortController,
      TextEncoder,
      TextDecoder,
      crypto,
      performance,
      Headers,
      Response,
      Request,
      fetch,
    },
  })
  const execute = new Script(`(async function execute(params) { ${body} })`).runInContext(context)
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error('timeout')), 1_500).unref())
  return await Promise.race([execute(given), late])
}

const tell = (value: unknown): void => void process.stdout.write(`${value}\n`)
setInterval(() => tell('{"alive":true}'), 50).unref()
tell('{"alive":true}')
for (const number of numbers.split(',').map(Number)) {
  let said = ''
  try {
    const own = { ...input, drop: `${input.drop}-${number}`, mark: `naive-${number}` }
    said = JSON.stringify(await run(ATTACKS[number]?.body ?? '', structuredClone(own))) ?? ''
  } catch (error) {
    said = String(error)
  }
  tell(`{"attack":${number},"said":${quote(said)},"honest":${quote(await honest())}}`)
}

async function honest(): Promise<string> {
  try {
    return JSON.stringify(await run('return { value: params.n * 2 }', structuredClone({ n: 21 })))
  } catch (error) {
    return String(error)
  }
}

/** Not JSON.stringify: an attack may have replaced it. */
function quote(text: string): string {
  return `"${Buffer.from(text).toString('base64')}"`
}
