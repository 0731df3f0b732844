import { expect, test } from 'vitest'
import { allowedHosts, publicUrl } from './address.ts'

const CONFIGURED = ['localhost', '127.0.0.1']

test('a server may be addressed by what it listens on, and by no address when it listens everywhere', () => {
  expect(allowedHosts('::1', CONFIGURED)).toContain('[::1]')
  expect(allowedHosts('0.0.0.0', CONFIGURED)).toEqual(CONFIGURED)
})

test('a link leads to a name under which the server may be addressed', () => {
  const tls = { kind: 'tls', certificate: '', key: '' } as const
  const linkFor = (host: string, remote: typeof tls | { kind: 'proxy' } | undefined, names: string[]) => {
    const allowed = allowedHosts(host, [...CONFIGURED, ...names])
    return publicUrl('https://[::]:4000', { host, remote, allowed })
  }
  expect(linkFor('::', tls, [])).toBe('https://localhost:4000')
  expect(linkFor('::', tls, ['kogu.example'])).toBe('https://kogu.example:4000')
  expect(linkFor('127.0.0.1', { kind: 'proxy' }, ['kogu.example'])).toBe('https://kogu.example')
})
