import { expect, test } from 'vitest'
import { toEnvironment } from './config/environment.ts'
import { openRunDatabase } from './run-database.ts'

test.each(['garbage', 'http://127.0.0.1/x', '127.0.0.1:5432'])(
  'DATABASE_URL=%s is refused before anything is looked up',
  async url => {
    const host = { platform: process.platform, uid: process.getuid?.(), home: '/nowhere' }
    const environment = toEnvironment({ HOME: '/nowhere', DATABASE_URL: url }, host)
    await expect(openRunDatabase(environment)).rejects.toMatchObject({ code: 'invalid_input' })
  },
)
