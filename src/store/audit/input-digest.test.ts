import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { callTool } from '../../core/call.ts'
import { createRedactor } from '../../core/redact.ts'
import { createSeal } from '../../core/seal.ts'
import { createTestRuntime, testCall } from '../../core/testing.ts'
import { type DigestInput, digestWith, hasOtherInput, provesInput } from './input-digest.ts'
import { openAuditLog } from './log.ts'
import { readEvents, type StoredEvent } from './read.ts'
import { verifyAudit } from './verify.ts'

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'kogu-digest-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

async function recorded(inputs: readonly unknown[], digest: DigestInput) {
  const root = folder()
  const folders = { directory: join(root, 'audit'), anchorDirectory: join(root, 'anchors') }
  const audit = openAuditLog({ ...folders, redact: createRedactor().perToken })
  const { runtime } = await createTestRuntime({ audit: { record: event => audit.record(event) } })
  for (const input of inputs) await callTool({ ...runtime, digestInput: digest }, testCall('echo', input))
  await audit.close()
  const events: StoredEvent[] = []
  for await (const stored of readEvents({ directory: folders.directory })) events.push(stored)
  return { folders, events: events.filter(({ event }) => event.type === 'call-started') }
}

test('what was called is proven by its digest, although the log masks it', async () => {
  const digest = digestWith(createSeal(join(folder(), 'key')))
  const input = { text: 'login --password hunter3; cp a b' }
  const { events } = await recorded([input], digest)
  const [stored] = events
  if (stored?.event.type !== 'call-started') throw new Error('not recorded')
  expect(JSON.stringify(stored.event.input)).not.toContain('hunter3')
  expect(JSON.stringify(stored.event.input)).toContain('; cp a b')
  expect(provesInput(stored.event, input, digest)).toBe(true)
  expect(provesInput(stored.event, { text: 'login --password hunter4; cp a b' }, digest)).toBe(false)
  expect(provesInput(stored.event, input, digestWith(createSeal(join(folder(), 'key'))))).toBe(false)
})

test('an input that is whole in the log is compared with its digest, others are not', async () => {
  const digest = digestWith(createSeal(join(folder(), 'key')))
  const deep: unknown = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`)
  const { folders, events } = await recorded(
    [
      { text: 'plain \ud800 é' },
      { text: 'token=abcdef12' },
      { text: 'x'.repeat(9000) },
      { deep },
      'no object',
    ],
    digest,
  )
  expect(events).toHaveLength(5)
  expect((await verifyAudit({ ...folders, digest })).problems).toEqual([])
  const [plain] = events
  const line = plain?.text ?? ''
  expect(hasOtherInput(Buffer.from(line), digest)).toBe(false)
  expect(hasOtherInput(Buffer.from(line.replace('plain', 'other')), digest)).toBe(true)
  // By somebody who has the log and not the key.
  expect(
    (await verifyAudit({ ...folders, digest: () => 'forged' })).problems.map(({ kind }) => kind),
  ).toEqual([...['recomputed', 'recomputed']])
})

test('a digest of a chosen text is no seal of it', () => {
  const seal = createSeal(join(folder(), 'key'))
  expect(seal.open(`x\n${seal.digest('x')}\n`)).toBeUndefined()
})
