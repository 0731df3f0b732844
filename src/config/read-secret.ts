import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Processes, ProcessRequest } from '../core/processes.ts'
import { ConfigError } from './config-error.ts'
import type { Environment } from './environment.ts'

/** Where a secret is, as the configuration says it. */
export interface SecretReference {
  readonly env?: string | undefined
  readonly file?: string | undefined
  readonly keychain?: string | undefined
  readonly command?: readonly string[] | undefined
}

/** How a command that prints a secret is run: outside the walls, with the person's rights. */
export interface SecretPrograms {
  readonly processes: Processes
  /** Throws when an agent could have written the program. */
  prepare(command: readonly string[]): Pick<ProcessRequest, 'file' | 'args' | 'cwd' | 'env'>
}

const COMMAND_MS = 30_000

/** Reads a secret from where it is. Undefined when an environment variable is not set; everything else that is missing fails. */
export async function readSecret(
  reference: SecretReference,
  environment: Environment,
  programs: SecretPrograms,
): Promise<string | undefined> {
  const { env, file, keychain, command } = reference
  if (env !== undefined) return environment.variables[env]?.trim() || undefined
  if (file !== undefined)
    return readFileSync(resolve(environment.home, expandHome(file, environment)), 'utf8').trim()
  const words = command ?? keychainCommand(keychain ?? '', environment)
  return runForSecret(words, programs)
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
  { processes, prepare }: SecretPrograms,
): Promise<string> {
  const [program = ''] = words
  const output: Uint8Array[] = []
  const result = await processes.run({
    ...prepare(words),
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
