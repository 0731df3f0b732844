import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../src/cli/commands.ts'
import type { Access } from '../src/core/access.ts'
import type { Mode } from '../src/core/decision.ts'
import type { Risk } from '../src/core/tool.ts'
import { LEVEL_SCORES } from '../src/permissions/commands/types.ts'
import { EFFECTS } from '../src/permissions/effect-names.ts'
import { analyzePath } from '../src/permissions/paths/paths.ts'
import { createTestEngine } from '../src/permissions/testing.ts'
import { fileTools } from '../src/tools/all.ts'
import { createSandboxed, PROGRAM, type Sandboxed } from './support/kogu.ts'

// What the documentation says is tried on the program. Every ```console block is run, in a workspace as the tour has it,
// and its output compared (`…` stands for anything); every ```toml block is loaded; tables are compared with the code.

const root = join(import.meta.dirname, '..')
const readPage = (page: string): string => readFileSync(join(root, page), 'utf8')
const guides = readdirSync(join(root, 'docs'))
  .filter(name => name.endsWith('.md'))
  .map(name => join('docs', name))
const pages = ['README.md', ...guides]

describe.each(pages)('%s', page => {
  const text = readPage(page)

  test('its sessions print what it says', async () => {
    await Promise.all(blocksOf(text, 'console').map(runSession))
  })

  test('its links lead to files and headings that exist', () => {
    for (const [, file = '', heading] of text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)) {
      const path = file === '' ? join(root, page) : join(root, page, '..', file)
      expect(() => readFileSync(path), path).not.toThrow()
      if (heading !== undefined) expect(headingsOf(readFileSync(path, 'utf8')), path).toContain(heading)
    }
  })

  test('its configurations load without a warning, and their rules match their examples', async () => {
    await inBox(box =>
      Promise.all(
        blocksOf(text, 'toml').map((block, index) => checkConfig(box, `block-${index}.toml`, block)),
      ),
    )
  })
})

test('every command and option that the documentation names is in the help', async () => {
  const { stdout: general } = await inBox(box => runProgram(box, ['--help']))
  const help = new Map<string, string>()
  for (const [name, { load }] of Object.entries(COMMANDS)) help.set(name, (await load()).help)
  for (const page of pages) {
    for (const line of codeOf(readPage(page))) {
      // Options of other programs are none of ours.
      if (/^(git|npm) /.test(line)) continue
      const [, name, verb] = /(?:^|[/|&;] ?)kogu ([a-z]+)(?: ([a-z-]+\b))?/.exec(line) ?? []
      if (name !== undefined) expect([...help.keys()], `${page}: ${line}`).toContain(name)
      const own = name === undefined ? [...help.values()].join('\n') : (help.get(name) ?? '')
      if (verb !== undefined && VERBS.test(own))
        expect(own, `${page}: ${line}`).toContain(`kogu ${name} ${verb}`)
      // Options of other programs (`gh --title`) are none of ours.
      if (name === undefined && !line.startsWith('--')) continue
      for (const option of line.match(/(?<![\w-])--[a-z][a-z-]+/g) ?? [])
        expect(`${own}\n${general}`, `${page}: ${line}`).toContain(option)
    }
  }
})

/** A command with verbs of its own (`kogu audit list`), unlike `kogu call TOOL`. */
const VERBS = /^ {2}kogu (?:audit|config|permissions|tools) /m

describe('docs/permissions.md', () => {
  const text = readPage('docs/permissions.md')
  const context = { home: '/home/ada', workspace: '/home/ada/shop' }

  test('it lists every effect with its meaning', () => {
    expect(tableIn(text, 'effect')).toEqual(
      Object.entries(EFFECTS).map(([name, what]) => [`\`${name}\``, what]),
    )
  })

  test('it gives every level of commands its score', () => {
    const rows = tableIn(text, 'level', 'score').map(([level, score]) => [level, Number(score)])
    expect(rows).toEqual(Object.entries(LEVEL_SCORES).map(([level, score]) => [`\`${level}\``, score]))
  })

  test('its sensitive files have the level that it says', () => {
    for (const [level, files = ''] of tableIn(text, 'level', 'files')) {
      for (const [, pattern = ''] of files.matchAll(/`([^`]+)`/g)) {
        const path = pattern.replaceAll('*', 'x').replace(/^~/, context.home)
        const full = path.startsWith('/') ? path : join(context.workspace, path)
        const found = [full, `${full}/x`].map(each => analyzePath(each, context).sensitivity)
        expect(Math.max(...found), pattern).toBe(Number(level))
      }
    }
  })

  test('its table of modes is what the engine decides', () => {
    const modes: Mode[] = ['ask', 'accept-edits', 'read-only', 'auto']
    const engines = modes.map(mode => createTestEngine([], { mode, workspace: context.workspace }))
    const decided = MODE_ROWS.map(({ risk, access }) =>
      engines.map(({ engine, request }) => {
        const judgement = engine.judge(request('any_tool', access, { risk }))
        return 'decision' in judgement ? judgement.decision.outcome : 'a promise'
      }),
    )
    for (const { root: made } of engines) rmSync(made, { recursive: true })
    expect(tableIn(text, 'what', '`ask`').map(row => row.slice(1))).toEqual(decided)
  })
})

/** What each row of the table of modes stands for. */
const MODE_ROWS: { risk: Risk; access: Access[] }[] = [
  { risk: 'low', access: [{ kind: 'file_read', path: '/srv/data.txt' }] },
  { risk: 'low', access: [{ kind: 'file_read', path: '/home/ada/shop/.env' }] },
  { risk: 'high', access: [{ kind: 'file_write', path: '/home/ada/shop/a.txt' }] },
  { risk: 'high', access: [{ kind: 'file_write', path: '/home/ada/shop/.gitlab-ci.yml' }] },
  { risk: 'high', access: [{ kind: 'file_delete', path: '/home/ada/shop/a.txt' }] },
  { risk: 'high', access: [{ kind: 'execute', command: 'git log --oneline | head' }] },
  { risk: 'high', access: [{ kind: 'execute', command: 'npm test' }] },
  { risk: 'low', access: [{ kind: 'network', url: 'https://example.com/' }] },
  { risk: 'high', access: [{ kind: 'network', url: 'https://example.com/', method: 'POST' }] },
  { risk: 'low', access: [] },
  { risk: 'high', access: [] },
  { risk: 'high', access: [{ kind: 'custom', name: 'own', details: 'something of its own' }] },
]

test('docs/files.md has every file tool with its names, parameters and defaults', async () => {
  const text = readPage('docs/files.md')
  const { stdout } = await inBox(box => runProgram(box, ['tools', 'list', '--json']))
  const tools: ListedTool[] = JSON.parse(stdout)
  const names = fileTools(() => Promise.reject(new Error('no ripgrep in this test'))).map(tool => tool.name)
  const listed = tools.filter(tool => names.includes(tool.name))
  expect(listed).toHaveLength(names.length)
  for (const { name, aliases, parameters, parameter_aliases } of listed) {
    const [, section = ''] = new RegExp(`^### ${name}\n([\\s\\S]*?)(?=^##)`, 'm').exec(text) ?? []
    expect(section, name).toContain(`Also called ${aliases.map(code).join(', ')}.`)
    const rows = Object.entries(parameters.properties).map(([parameter, property]) => [
      code(parameter),
      parameters.required?.includes(parameter)
        ? 'required'
        : property.default === undefined
          ? '–'
          : code(JSON.stringify(property.default)),
      (parameter_aliases[parameter] ?? []).map(code).join(', '),
    ])
    expect(
      tableIn(section, 'parameter').map(row => [row[0], row[1], row[3]]),
      name,
    ).toEqual(rows)
  }
})

interface ListedTool {
  name: string
  aliases: string[]
  parameters: { properties: Record<string, { default?: unknown }>; required?: string[] }
  parameter_aliases: Record<string, string[]>
}

function blocksOf(text: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm')
  return [...text.matchAll(fence)].map(match => match[1] ?? '')
}

/** Inline code outside of blocks, and the commands in them. */
function codeOf(text: string): string[] {
  const inline = text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`]+)`/g)
  const commands = blocksOf(text, 'console').flatMap(block =>
    splitSession(block).map(({ command }) => command),
  )
  return [
    ...[...inline].map(match => match[1] ?? ''),
    ...commands,
    ...blocksOf(text, 'sh').join('').split('\n'),
  ]
}

/** As GitHub names them. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(match =>
    (match[1] ?? '')
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

/** The rows of the first table whose header begins with these cells. */
function tableIn(text: string, ...header: string[]): string[][] {
  const lines = text.split('\n')
  const first = lines.findIndex(line => line.startsWith(`| ${header.join(' | ')} |`))
  expect(first, `a table with ${header.join(', ')}`).not.toBe(-1)
  const rows = lines.slice(first + 2)
  return rows
    .slice(
      0,
      rows.findIndex(line => !line.startsWith('|')),
    )
    .map(line =>
      line
        .replaceAll('\\|', '\0')
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim().replaceAll('\0', '|')),
    )
}

function code(text: string): string {
  return `\`${text}\``
}

async function runSession(block: string): Promise<void> {
  await inBox(async box => {
    box.write('prices.json', '{\n  "tea": 120,\n  "cup": 80\n}\n')
    box.write('.env', 'SHOP_TOKEN=not-a-real-token\n')
    box.write('.git/hooks/sample', '')
    for (const { command, expected } of splitSession(block)) {
      const script = command.replaceAll(/\bkogu /g, `'${process.execPath}' '${PROGRAM}' `)
      const { stdout, stderr } = await run('bash', ['-c', script], box)
      expect(`${stdout}${stderr}`.trimEnd(), command).toMatch(toPattern(expected))
    }
  })
}

async function checkConfig(box: Sandboxed, name: string, block: string): Promise<void> {
  if (block.includes('[[step]]')) return checkPipelineFile(box, block)
  const file = box.write(name, block)
  const checked = await runProgram(box, ['config', 'validate', '--json', '--config', file])
  expect(JSON.parse(checked.stdout), block).toMatchObject({ ok: true, errors: [], warnings: [] })
  // Whether rules match their examples is only known to what decides with them.
  if (block.includes('match = '))
    expect(await runProgram(box, ['permissions', 'list', '--config', file]), block).toMatchObject({ code: 0 })
}

/** A pipeline whose panels are there is valid. */
async function checkPipelineFile(box: Sandboxed, block: string): Promise<void> {
  const [, name = ''] = /^name = "(.*)"$/m.exec(block) ?? []
  box.write(`.kogu/pipelines/${name}.toml`, block)
  for (const [, panel = ''] of block.matchAll(/^panel = "(.*)"$/gm))
    box.write(`.kogu/panels/${panel}.toml`, 'prompt = "{{input}}"\n[limits]\nmax_cost = 1\n')
  const checked = await runProgram(box, ['pipeline', 'validate', name, '--json'])
  expect(JSON.parse(checked.stdout), block).toEqual({ ok: true, problems: [], warnings: [] })
}

function runProgram(box: Sandboxed, args: readonly string[]): Promise<Ended> {
  return run(process.execPath, [PROGRAM, ...args], box)
}

interface Ended {
  code: number
  stdout: string
  stderr: string
}

async function run(file: string, args: readonly string[], { workspace, env }: Sandboxed): Promise<Ended> {
  const running = promisify(execFile)(file, args, { cwd: workspace, env, encoding: 'utf8' })
  running.child.stdin?.end()
  // An exit code other than 0 is what many sessions show.
  return running.then(
    output => ({ code: 0, ...output }),
    (error: Ended) => ({ code: error.code, stdout: error.stdout, stderr: error.stderr }),
  )
}

async function inBox<T>(work: (box: Sandboxed) => Promise<T>): Promise<T> {
  const box = createSandboxed()
  try {
    return await work(box)
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
