import { expect, test } from 'vitest'
import { lazyServices, type Services } from './services.ts'

const never = new Promise<Services>(() => undefined)
// Nothing of it is used.
const opened = {} as Services

test('a request that finds the database away, or not answering, hears so; the next one tries again', async () => {
  const away = { status: 503, code: 'database_unavailable' }
  const answers = [() => Promise.reject(new Error('connect ECONNREFUSED')), async () => opened]
  const failing = lazyServices(() => answers.shift()?.() ?? never)
  await expect(failing()).rejects.toMatchObject(away)
  expect(await failing()).toBe(opened)
  await expect(lazyServices(() => never, 1)()).rejects.toMatchObject(away)
})

test('a request waits for services that are being opened on a database that is there', async () => {
  const open = Promise.withResolvers<Services>()
  const services = lazyServices(reached => {
    reached()
    return open.promise
  }, 1)
  const found = services()
  await new Promise(resolve => setTimeout(resolve, 20))
  open.resolve(opened)
  expect(await found).toBe(opened)
})
