import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentsOf, type BuildBox, buildIn, createBuildBox, KILLED, killAt } from '../support/build-world.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type MockVendor, startMockVendor } from '../support/mock-vendor.ts'

// A build that is killed with SIGKILL, again and again. The bench kills one at every step, and at many moments of each.

let database: TestDatabase
let vendor: MockVendor
let box: BuildBox

beforeAll(async () => {
  database = await createTestDatabase()
  vendor = await startMockVendor()
  vendor.play(agentsOf(KILLED))
  box = createBuildBox(database.url, vendor.url, KILLED.files)
})
afterAll(async () => {
  box.remove()
  await vendor.close()
  await database.close()
})

test('killed while an agent works, a check runs and a commit is made, it goes on and commits once', async () => {
  const before = box.digest()
  await killAt(box, ['build', 'fix it'], '▶ code')
  const id = buildIn(box)
  for (const line of ['▶ check', '▶ commit', '✓ commit']) await killAt(box, ['pipeline', 'resume', id], line)
  const ended = await box.kogu(['pipeline', 'resume', id])
  // Where it was killed after its last step, there is nothing to go on with.
  const { status, build } = box.json(['pipeline', 'show', id])
  expect({ status, build }, ended.stderr).toMatchObject({
    status: 'completed',
    build: { report: { rounds: 1 } },
  })
  expect(box.git('log', '--format=%B', `main..${build.branch}`)).toBe(`fix it\n\nKogu-Run: ${id}\n\n`)
  expect(box.git('show', `${build.branch}:prices.txt`)).toBe('tea 120\n')
  expect(box.digest()).toBe(before)
  expect(box.run(['pipeline', 'accept', id]).code).toBe(0)
  expect([box.read('prices.txt'), existsSync(build.root)]).toEqual(['tea 120\n', false])
})
