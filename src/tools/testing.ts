import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noApprover } from '../core/approval.ts'
import { fullAuthority } from '../core/authority.ts'
import { validateInput } from '../core/input.ts'
import type { Permit } from '../core/permit.ts'
import { createRun, type Run } from '../core/run.ts'
import type { AnyTool, ToolOutput } from '../core/tool.ts'
import { createProcesses } from '../sandbox/processes/processes.ts'
import {
  createTestWorkspace,
  type TestWorkspace,
  type TestWorkspaceOptions,
  testPermit,
} from '../workspace/testing.ts'
import { grepSearchTool } from './grep-search.ts'
import { readFile } from './read-file.ts'
import { createRipgrep } from './search/ripgrep.ts'

// For tests of tools: calls go through the real workspace, with a permit that allows what the tool declared.

export interface ToolBench {
  readonly workspace: TestWorkspace
  readonly root: string
  /** All calls of the bench belong to it. */
  readonly run: Run
  at(path: string): string
  call(tool: AnyTool, input: unknown, options?: BenchOptions): Promise<BenchOutput>
  /** Writes a file that the run has read. */
  given(path: string, content: string | Uint8Array): Promise<void>
  content(path: string): string
  close(): Promise<void>
}

/** Starts ripgrep from this process: there is nothing to close. */
export const grepSearch = grepSearchTool(createRipgrep(createProcesses({ spawner: 'direct' })))

export interface BenchOptions {
  readonly permit?: Partial<Permit>
  readonly signal?: AbortSignal
  /** Leaves out declared accesses of the kind custom, as if nobody had confirmed them. */
  readonly unconfirmed?: boolean
}

interface BenchOutput extends ToolOutput {
  // Tests compare the data of many tools field by field.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  data: any
}

export function createToolBench(root?: string, options: TestWorkspaceOptions = {}): ToolBench {
  const workspace = createTestWorkspace(root === undefined ? options : { ...options, root })
  const run = {
    ...createRun('run', {
      authority: fullAuthority(workspace.root, 'ask'),
      approver: noApprover('this is a test'),
    }),
    receipts: workspace.receipts,
  }
  const at = (path: string): string => join(workspace.root, path)
  const call: ToolBench['call'] = (tool, input, more) => callTool({ workspace, run }, tool, input, more ?? {})
  return {
    workspace,
    root: workspace.root,
    run,
    at,
    call,
    async given(path, content) {
      writeFileSync(at(path), content)
      await call(readFile, { path })
    },
    content: path => readFileSync(at(path), 'utf8'),
    close: () => workspace.close(),
  }
}

async function callTool(
  { workspace, run }: { workspace: TestWorkspace; run: Run },
  tool: AnyTool,
  input: unknown,
  { permit, signal, unconfirmed }: BenchOptions,
): Promise<BenchOutput> {
  const { root, receipts } = workspace
  const parsed = validateInput(tool, input)
  const declared = await tool.access(parsed, { cwd: root, workspace: root, receipts })
  const access = unconfirmed === true ? declared.filter(each => each.kind !== 'custom') : declared
  const allowed: Permit = { ...testPermit(root, access), ...permit }
  const ended = signal ?? new AbortController().signal
  const { files, close } = workspace.call(access, { permit: allowed, signal: ended })
  try {
    const output = await tool.run(parsed, {
      callId: 'call',
      caller: 'test',
      run,
      cwd: root,
      workspace: root,
      signal: ended,
      files,
      processes: { run: () => Promise.reject(new Error('no processes in this test')) },
      permit: allowed,
      reportEffects: () => undefined,
      keepChanges: async () => ({ keep: true }),
      call: () => Promise.reject(new Error('no calls in this test')),
      progress: () => undefined,
    })
    return { ...output, data: output.data }
  } finally {
    await close()
  }
}
