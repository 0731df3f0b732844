import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { followFolder } from './follow-folder.ts'
import { lookRegularly } from './look-regularly.ts'

test('a change in a folder is told at once, also when the folder came later', async () => {
  const home = mkdtempSync(join(tmpdir(), 'kogu-follow-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const folder = join(home, 'later')
  const told = Promise.withResolvers<void>()
  const followed = followFolder(folder, () => told.resolve())
  mkdirSync(folder)
  followed.follow()
  writeFileSync(join(folder, 'a'), '')
  await told.promise
  followed.close()
})

test('many wishes to look are one look, after the one that is under way', async () => {
  const looks: PromiseWithResolvers<void>[] = []
  const looking = lookRegularly(() => {
    const look = Promise.withResolvers<void>()
    looks.push(look)
    return look.promise
  })
  await Promise.resolve()
  for (let wish = 0; wish < 5; wish += 1) looking.lookSoon()
  looks[0]?.resolve()
  await expect.poll(() => looks.length).toBe(2)
  looks[1]?.resolve()
  await looking.close()
  expect(looks).toHaveLength(2)
})
