import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Processes } from '../core/processes.ts'
import { ConfigError } from './config-error.ts'
import type { Environment } from './environment.ts'

/** Where a secret is, as the configuration says it. */
export interface SecretReference {
  readonly env?: string | undefined
  readonly file?: string | undefined
  readonly keychain?: string | undefined
  readonly command?: readonly string[] | undefined
}

const COMMAND_MS = 30_000

/** Reads a secret from where it is. Undefined when an environment variable is not set; everything else that is missing fails. */
export async function readSecret(
  reference: SecretReference,
  environment: Environment,
  processes: Processes,
): Promise<string | undefined> {
  const { env, file, keychain, command } = reference
  if (env !== undefined) return environment.variables[env]?.trim() || undefined
  if (file !== undefined)
    return readFileSync(resolve(environment.home, expandHome(file, environment)), 'utf8').trim()
  const words = command ?? keychainCommand(keychain ?? '', environment)
  return runForSecret(words, environment, processes)
}

/** For people: which place it is, never what is there. */
export function describeSecret({ env, file, keychain, command }: SecretReference): string {
  if (env !== undefined) return `env ${env}`
  if (file !== undefined) return `file ${file}`
  if (keychain !== undefined) return `keychain ${keychain}`
  return `command ${command?.[0] ?? ''}`
}

function expandHome(path: string, { home }: Environment): string {
  return path.replace(/^~(?=\/)/, home)
}

function keychainCommand(name: string, { platform }: Environment): string[] {
  if (platform === 'darwin') return ['security', 'find-generic-password', '-w', '-s', name]
  return ['secret-tool', 'lookup', 'service', name]
}

async function runForSecret(
  words: readonly string[],
  environment: Environment,
  processes: Processes,
): Promise<string> {
  const [program = '', ...args] = words
  const output: Uint8Array[] = []
  const result = await processes.run({
    file: '/usr/bin/env',
    args: ['--', program, ...args],
    cwd: environment.home,
    env: environment.variables,
    timeoutMs: COMMAND_MS,
    signal: new AbortController().signal,
    onStdout: chunk => {
      output.push(chunk)
      return undefined
    },
  })
  const secret = Buffer.concat(output).toString('utf8').trim()
  if (result.exitCode === 0 && secret !== '') return secret
  throw new ConfigError(`The command ${program} gave no secret (exit code ${result.exitCode ?? 'none'}).`, {
    file: 'api_key',
  })
}
