import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import type { Access } from '../core/access.ts'
import { noApprover } from '../core/approval.ts'
import { type AuthorityWish, fullAuthority } from '../core/authority.ts'
import type { JudgeRequest, Mode, PermissionEngine } from '../core/decision.ts'
import { createRun } from '../core/run.ts'
import { defineTool } from '../core/tool.ts'
import { analyzeCommand } from './commands/analyze.ts'
import { createEngine, type EngineOptions } from './engine.ts'
import type { Grant, GrantStore } from './grants.ts'
import { compileRule, type RuleDefinition } from './rules/rules.ts'

// For tests: an engine over a real folder, with rules as a configuration file would have them.

export interface TestEngine {
  readonly engine: PermissionEngine
  readonly root: string
  readonly workspace: string
  readonly grants: Grant[]
  request(
    tool: string,
    access: Access | readonly Access[],
    options?: Partial<JudgeRequest> & { authority?: AuthorityWish },
  ): JudgeRequest
}

export function createTestEngine(
  rules: readonly Omit<RuleDefinition, 'origin'>[] = [],
  { mode = 'ask', ...options }: Partial<EngineOptions> & { mode?: Mode } = {},
): TestEngine {
  const root = mkdtempSync(join(folderOfEngines(), 'engine-'))
  const workspace = options.workspace ?? root
  const context = { home: '/home/kim', workspace }
  const grants: Grant[] = []
  const engine = createEngine({
    workspace,
    home: context.home,
    fallback: 'ask',
    rules: rules.map((rule, index) =>
      compileRule({ ...rule, origin: { file: 'test.toml', line: index + 1 } }, index, context, name => name),
    ),
    grants: memoryGrants(grants),
    noSandbox: () => null,
    network: false,
    rememberMs: 3_600_000,
    now: Date.now,
    analyzeCommand,
    ...options,
  })
  const run = createRun('run_1', {
    authority: fullAuthority(workspace, mode),
    approver: noApprover('this is a test'),
  })
  return {
    engine,
    root,
    workspace,
    grants,
    request: (name, access, { authority, ...more } = {}) => ({
      tool: toolNamed(name),
      toolNames: new Set([name.toLowerCase()]),
      fingerprint: name,
      input: {},
      access: [access].flat() as Access[],
      risk: 'high',
      cwd: workspace,
      run: authority === undefined ? run : { ...run, authority: { ...run.authority, ...authority } },
      ...more,
    }),
  }
}

function memoryGrants(grants: Grant[]): GrantStore {
  return {
    list: () => grants,
    add: async grant => {
      grants.push(grant)
    },
    remove: async id => {
      const index = grants.findIndex(grant => grant.id === id)
      if (index !== -1) grants.splice(index, 1)
      return index !== -1
    },
  }
}

function toolNamed(name: string) {
  return defineTool({
    name,
    title: name,
    description: name,
    category: 'Composite',
    risk: 'high',
    input: z.object({}),
    access: () => [],
    run: async () => ({ text: '' }),
  })
}

let folder: string | undefined
/** Thousands of engines share it; it goes with the process. */
function folderOfEngines(): string {
  if (folder !== undefined) return folder
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'kogu-engines-')))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  folder = made
  return made
}
