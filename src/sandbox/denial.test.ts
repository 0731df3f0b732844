import { expect, test } from 'vitest'
import { DEFAULT_SANDBOX_LIMITS, type SandboxProfile } from '../core/sandbox.ts'
import { explainDenial, type FailedRun } from './denial.ts'

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

test('a rename that the layer refuses is explained', () => {
  const denial = explainDenial(failed("fatal: renaming 'src' failed: Invalid cross-device link"), profile)
  expect(denial).toMatchObject({ kind: 'rename', allowedBy: null })
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
