import { expect, test } from 'vitest'
import { DatabaseUnavailable } from '../store/database/database.ts'
import { toProblem } from './problem.ts'

test('a database that is away is 503 under the code of the founding documents', () => {
  const problem = toProblem(new DatabaseUnavailable(new Error('connect ECONNREFUSED')))
  expect(problem).toMatchObject({ status: 503, error_code: 'database_unavailable', retryable: true })
})
