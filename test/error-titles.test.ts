import { expect, test } from 'vitest'
import { words } from '../src/dashboard/components/error-title/words.ts'
import { HttpProblem, TITLES, toProblem } from '../src/server/problem.ts'

test('the page knows every error of the server, and calls it what the server does', () => {
  // What only the page can say.
  const { offline: _, other, ...known } = words.en
  expect(known).toEqual(TITLES)
  expect(toProblem(new HttpProblem(418, 'teapot', '')).title).toBe(other)
})
