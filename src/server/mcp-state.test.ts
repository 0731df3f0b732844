import { expect, test } from 'vitest'
import { serverState } from './mcp-state.ts'

const down = { available: false, isStarting: false, problems: [] }

test('what a person decided is said before how a server is doing', () => {
  const up = { ...down, available: true }
  expect(serverState('off', up)).toBe('off')
  expect(serverState('not trusted', up)).toBe('untrusted')
  expect(serverState('changed', up)).toBe('changed')
  expect(serverState('trusted', up)).toBe('ready')
})

test('a trusted server that is not there is connecting, wants a key, or has failed', () => {
  expect(serverState('trusted', { ...down, isStarting: true })).toBe('connecting')
  const said = (problem: string) => serverState('trusted', { ...down, problems: [problem] })
  expect(said('mcp:a is down: the server requires authorization (HTTP 401)')).toBe('auth')
  expect(said('mcp:a is down: it exited with code 3, and wrote: x')).toBe('failed')
  expect(said('mcp:a is down: connect ECONNREFUSED 127.0.0.1:4013')).toBe('failed')
})
