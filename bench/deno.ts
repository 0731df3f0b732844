import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

const VERSION = '2.9.6'

/** A Deno that holds one function and runs it for each line it is sent, all in one context. */
export interface Deno {
  call(input: string): Promise<string>
  close(): void
}

/** The program from npm, installed beside the project when it is first wanted; undefined when it cannot be. */
export function findDeno(): string | undefined {
  const name = `@deno/${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}`
  const folder = join(dirname(import.meta.dirname), 'node_modules', '.cache', 'bench', `deno@${VERSION}`)
  const program = join(folder, 'node_modules', name, 'deno')
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', `${name}@${VERSION}`]
  spawnSync('npm', args, { cwd: folder, timeout: 5 * 60_000 })
  return existsSync(program) ? program : undefined
}

export function startDeno(program: string, code: string): Deno {
  const script = `${code}
    let rest = ''
    for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\\n')
      rest = lines.pop()
      for (const line of lines) console.log(JSON.stringify(execute(JSON.parse(line))))
    }`
  const child = spawn(program, ['eval', script], { stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout })
  return {
    call(input) {
      child.stdin.write(`${input}\n`)
      return new Promise(resolve => lines.once('line', resolve))
    },
    close: () => child.kill(),
  }
}
