import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createSandboxed, PROGRAM } from './support/kogu.ts'

// Every ```console block of the documentation is run, in a workspace as the tour has it, and its output compared.
// `…` stands for anything.

const root = join(import.meta.dirname, '..')
const pages = ['README.md', ...readdirSync(join(root, 'docs')).map(name => join('docs', name))].filter(name =>
  name.endsWith('.md'),
)

describe.each(pages)('%s', page => {
  const text = readFileSync(join(root, page), 'utf8')

  test('its sessions print what it says', () => {
    for (const [, block = ''] of text.matchAll(/^```console\n([\s\S]*?)^```$/gm)) runSession(block)
  })

  test('its links lead to files that exist', () => {
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(match =>
      join(root, page, '..', match[1] ?? ''),
    )
    for (const link of links) expect(() => readFileSync(link), link).not.toThrow()
  })
})

function runSession(block: string): void {
  const box = createSandboxed()
  try {
    box.write('prices.json', '{\n  "tea": 120,\n  "cup": 80\n}\n')
    box.write('.env', 'SHOP_TOKEN=not-a-real-token\n')
    box.write('.git/hooks/sample', '')
    for (const { command, expected } of splitSession(block)) {
      const script = command.replaceAll(/\bkogu /g, `'${process.execPath}' '${PROGRAM}' `)
      const env = { ...box.env, PATH: process.env.PATH ?? '' }
      const { stdout, stderr } = spawnSync('bash', ['-c', script], {
        cwd: box.workspace,
        env,
        encoding: 'utf8',
      })
      expect(`${stdout}${stderr}`.trimEnd(), command).toMatch(toPattern(expected))
    }
  } finally {
    box.remove()
  }
}

function splitSession(block: string): { command: string; expected: string }[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map(part => {
      const [command = '', ...lines] = part.split('\n')
      return { command, expected: lines.join('\n').trimEnd() }
    })
}

function toPattern(expected: string): RegExp {
  const escaped = expected.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  // A line that is only `…` stands for any number of lines; runs of spaces may be longer, because columns adapt.
  return new RegExp(`^${escaped.replaceAll('…', '[\\s\\S]*?').replaceAll(/ {2,}/g, ' {2,}')}$`)
}
