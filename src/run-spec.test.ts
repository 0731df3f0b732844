import { expect, test } from 'vitest'
import { parsePanel } from './agents/panel.ts'
import { createTestMachine } from './config/test-machine.ts'
import { Registry } from './core/registry.ts'
import { openModels } from './models.ts'
import { toRunSpec } from './run-spec.ts'

test.each([
  ['ask', 'ask', 'ask'],
  ['ask', 'stop', 'stop'],
  ['stop', 'ask', 'stop'],
])('with on_limit %j in the configuration and %j in the panel it is %j', (configured, own, limit) => {
  const machine = createTestMachine()
  machine.write('user/config.toml', `[limits]\non_limit = "${configured}"\n`)
  const script = machine.write('script.toml', '[[answer]]\ntext = "Done."\n')
  const loaded = machine.load()
  const panel = parsePanel(`model = "rehearsal:${script}"\n[limits]\non_limit = "${own}"\n`, 'p', 'p.toml')
  if (panel.kind !== 'ai') throw new Error('It has a model.')
  const runs = { models: openModels(loaded, machine.environment()) }
  const runtime = { registry: new Registry() }
  const spec = toRunSpec({ loaded, runtime, runs }, { task: 'Go.', startedBy: 'test', panel })
  expect(spec.limits.onLimit).toBe(limit)
})
