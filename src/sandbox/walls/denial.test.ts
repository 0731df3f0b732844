import { expect, test } from 'vitest'
import { DEFAULT_SANDBOX_LIMITS, type SandboxProfile } from '../../core/sandbox.ts'
import { explainDenial, type FailedRun, fromRefusedHost } from './denial.ts'

const profile: SandboxProfile = {
  writable: ['/home/dev/ws'],
  readable: [],
  hidden: ['/home/me/.ssh'],
  protected: ['/home/dev/ws/.git/hooks'],
  network: 'none',
  unixSockets: false,
  env: {},
  cwd: '/home/dev/ws/src',
  limits: DEFAULT_SANDBOX_LIMITS,
}

function failed(stderr: string, more: Partial<FailedRun> = {}): FailedRun {
  return { exitCode: 1, signal: null, limit: null, stderr, ...more }
}

test.each([
  ["touch: cannot touch '/etc/x': Read-only file system", { kind: 'file_write', path: '/etc/x' }],
  ['bash: line 1: /etc/motd: Read-only file system', { kind: 'file_write', path: '/etc/motd' }],
  ["Error: EROFS: read-only file system, open '/opt/log'", { kind: 'file_write', path: '/opt/log' }],
  [
    'cat: /home/me/.ssh/id_ed25519: Permission denied',
    { kind: 'file_read', path: '/home/me/.ssh/id_ed25519' },
  ],
  ['curl: (6) Could not resolve host: example.com', { kind: 'network', url: 'https://example.com/' }],
  [
    'Error: getaddrinfo EAI_AGAIN registry.npmjs.org',
    { kind: 'network', url: 'https://registry.npmjs.org/' },
  ],
  [
    'ssh: Could not resolve hostname git.example: Try again',
    { kind: 'network', url: 'https://git.example/' },
  ],
  ['connect: Network is unreachable', { kind: 'network', url: '…' }],
])('%s names the one access that would allow it', (line, allowedBy) => {
  expect(explainDenial(failed(`first line\n${line}\n`), profile)?.allowedBy).toEqual(allowedBy)
})

test('a relative path is taken from the working folder', () => {
  const denial = explainDenial(failed("mkdir: cannot create directory 'out': Read-only file system"), profile)
  expect(denial?.target).toBe('/home/dev/ws/src/out')
})

test('a protected path is explained and no rule is offered', () => {
  const denial = explainDenial(
    failed('sh: 1: /home/dev/ws/.git/hooks/pre-commit: Read-only file system'),
    profile,
  )
  expect(denial).toMatchObject({
    kind: 'write',
    target: '/home/dev/ws/.git/hooks/pre-commit',
    allowedBy: null,
  })
})

test.each([
  [
    "fatal: renaming 'src' failed: Invalid cross-device link",
    '/home/dev/ws/src/src',
    'mv A B && git add -A A B',
  ],
  ["OSError: [Errno 18] Invalid cross-device link: 'a' -> '/home/dev/ws/b'", '/home/dev/ws/src/a', 'Use mv'],
  ["Error: EXDEV: cross-device link not permitted, rename './a' -> 'b'", '/home/dev/ws/src/a', 'Use mv'],
  ['rename failed: Invalid cross-device link at x line 1.', null, 'Use mv'],
  ["OSError: [Errno 18] Invalid cross-device link: '/tmp/q' -> 'b'", '/tmp/q', '/tmp is another file system'],
])('%s is explained, with what to do instead', (line, target, instead) => {
  const denial = explainDenial(failed(line), profile)
  expect(denial).toMatchObject({ kind: 'rename', target, allowedBy: null })
  expect(denial?.message).toContain(instead)
})

test('a host that the proxy refused is named, with what would open it', () => {
  const refusedHosts = new Map([
    ['10.0.0.1:80', { reason: '10.0.0.1 is a private address', canBeAllowed: false }],
    ['cdn.example.com:443', { reason: 'only example.com may be contacted', canBeAllowed: true }],
  ])
  expect(explainDenial(failed('curl: (56) CONNECT tunnel failed', { refusedHosts }), profile)).toEqual({
    kind: 'network',
    target: 'cdn.example.com',
    message:
      'cdn.example.com:443 was not contacted: only example.com may be contacted. An allow rule with host = "cdn.example.com", or [sandbox] network = ["cdn.example.com"], opens it for approved commands.',
    allowedBy: { kind: 'network', url: 'https://cdn.example.com:443/' },
  })
  refusedHosts.delete('cdn.example.com:443')
  expect(fromRefusedHost({ refusedHosts })).toMatchObject({ target: '10.0.0.1', allowedBy: null })
  expect(fromRefusedHost({})).toBeNull()
})

test('a program that does not use the proxy is told so', () => {
  const line = failed('ssh: Could not resolve hostname git.example: Try again')
  const denial = explainDenial(line, { ...profile, network: { proxySocket: '/x' } })
  expect(denial).toMatchObject({ kind: 'network', target: 'git.example', allowedBy: null })
  expect(denial?.message).toContain('HTTPS_PROXY')
})

test('limits are named', () => {
  const target = (run: FailedRun): string | null | undefined => explainDenial(run, profile)?.target
  expect(target(failed('', { limit: 'memory' }))).toBe('memory')
  expect(target(failed('bash: fork: retry: Resource temporarily unavailable'))).toBe('processes')
  expect(target(failed('', { signal: 'SIGXCPU' }))).toBe('cpu')
  expect(target(failed('File size limit exceeded'))).toBe('file size')
})

test('an ordinary failure is not blamed on the sandbox', () => {
  expect(explainDenial(failed('cat: /home/dev/ws/x: No such file or directory'), profile)).toBeNull()
  expect(explainDenial(failed('bash: ./script: Permission denied'), profile)).toBeNull()
})
