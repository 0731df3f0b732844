import * as z from 'zod'
import { type Access, GIT_READ } from '../../core/access.ts'
import { ToolError } from '../../core/errors.ts'
import { toShellLine } from '../../core/shell-words.ts'
import { type AnyTool, defineTool, type ToolContext } from '../../core/tool.ts'
import type { CommandParts } from '../command/parts.ts'
import { checkBranchName, checkRevision } from './git-names.ts'

const READ_ACTIONS = ['status', 'diff', 'log', 'show', 'branch_list', 'blame', 'stash_list'] as const
const WRITE_ACTIONS = ['add', 'commit', 'branch_create', 'checkout'] as const

export type ReadAction = (typeof READ_ACTIONS)[number]
type WriteAction = (typeof WRITE_ACTIONS)[number]

const input = () =>
  z.object({
    action: z
      .enum([...READ_ACTIONS, ...WRITE_ACTIONS], {
        error: ({ input }) => (typeof input === 'string' ? `Unknown git action: ${input}` : undefined),
      })
      .describe('What to do. There is no push.'),
    args: z
      .object({
        files: z.array(z.string().min(1)).max(500).optional().describe('add: files to stage'),
        message: z.string().max(20_000).optional().describe('commit: the message'),
        branch_name: z.string().optional().describe('branch_create, checkout: the branch'),
        max_count: z.int().min(1).max(500).optional().describe('log: most commits. Defaults to 10.'),
        ref: z.string().optional().describe('show, log, blame: hash, branch or tag. Defaults to HEAD.'),
        paths: z.array(z.string().min(1)).max(200).optional().describe('diff, log, blame: only these paths'),
        from: z.string().optional().describe('diff: the older commit. Defaults to the index.'),
        to: z.string().optional().describe('diff: the newer commit. Defaults to the working tree.'),
        staged: z.boolean().optional().describe('diff: what is staged, against HEAD or from'),
        start_line: z.int().min(1).optional().describe('blame: first line'),
        end_line: z.int().min(1).optional().describe('blame: last line'),
      })
      .strict()
      .default({}),
  })

type Input = z.output<ReturnType<typeof input>>
export type GitArgs = Input['args']

export interface GitOutput {
  readonly text: string
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * Git by actions instead of words. Looking starts nothing that the repository names; changing is a command line like any
 * other, and is judged, walled in, recorded and undone as one.
 */
export function gitOpsTool(parts: CommandParts): AnyTool {
  return defineTool({
    name: 'git_ops',
    aliases: ['git'],
    title: 'Work with git',
    description:
      'Look at the repository (status, diff, log, show, branch_list, blame, stash_list) or change it (add, commit, branch_create, checkout). ' +
      'Changes need the ReadWrite level and are asked about. There is no push and no force.',
    category: 'VersionControl',
    risk: 'high',
    input,
    // What more there is depends on the action: branch and files, commits, branches, lines, stashes.
    output: {
      action: { type: 'string' },
      output: { type: 'string' },
      success: { type: 'boolean' },
    },
    access: ({ action, args }, { cwd }) => accessOf(action, args, cwd),
    async run({ action, args }, context) {
      const { text, data } = isRead(action)
        ? await look(action, args, parts, context)
        : await change(toWords(action, args), context)
      return {
        text: text === '' ? (EMPTY[action] ?? 'Done.') : text,
        data: { action, output: text, success: true, ...data },
      }
    },
  })
}

const EMPTY: Readonly<Partial<Record<Input['action'], string>>> = {
  status: 'Nothing to commit, working tree clean.',
  diff: 'No differences.',
  log: 'No commits yet.',
  branch_list: 'No branches yet.',
  stash_list: 'No stashes.',
}

function isRead(action: Input['action']): action is ReadAction {
  return READ_ACTIONS.some(name => name === action)
}

function accessOf(action: Input['action'], args: GitArgs, cwd: string): Access[] {
  for (const revision of [args.ref, args.from, args.to]) if (revision !== undefined) checkRevision(revision)
  if (!isRead(action)) {
    const command = toShellLine(toWords(action, args))
    return [{ kind: 'execute', command, cwd, programs: 'own' }]
  }
  const looks: Access = { kind: 'custom', name: GIT_READ, details: `git ${action}` }
  // Blame prints the file; of a difference, each file is judged when it is known.
  const printed = action === 'blame' ? (args.paths ?? args.files ?? []).slice(0, 1) : []
  return [looks, ...printed.map((path): Access => ({ kind: 'file_read', path }))]
}

/** The command that an action stands for. Every word is one argument; what could be taken for an option is refused. */
function toWords(action: WriteAction, { files, message, branch_name: branch }: GitArgs): string[] {
  switch (action) {
    case 'add':
      if (files === undefined || files.length === 0) throw invalid("No files specified for 'add'")
      if (files.some(file => /[\0\n\r]/.test(file))) throw invalid('A file name cannot hold a line end.')
      return ['git', '--literal-pathspecs', 'add', '--', ...files]
    case 'commit':
      if (message === undefined || message.trim() === '') throw invalid('Missing commit message')
      if (message.includes('\0')) throw invalid('A commit message cannot hold a NUL character.')
      return ['git', 'commit', '-m', message]
    case 'branch_create':
      return ['git', 'switch', '-c', branchOf(branch)]
    case 'checkout':
      // Unlike `git checkout`, it never takes the name for a file, whose changes it would throw away.
      return ['git', 'switch', '--no-guess', branchOf(branch)]
  }
}

function branchOf(name: string | undefined): string {
  if (name === undefined || name === '') throw invalid('Missing branch_name')
  checkBranchName(name)
  return name
}

function invalid(message: string): ToolError {
  return new ToolError('invalid_input', message)
}

async function look(
  action: ReadAction,
  args: GitArgs,
  parts: CommandParts,
  context: ToolContext,
): Promise<GitOutput> {
  const [{ READS }, { openGitReader }] = await Promise.all([import('./git-reads.ts'), import('./run-git.ts')])
  return READS[action](await openGitReader(parts, context), args, context)
}

const TIMEOUT_MS = 120_000

async function change(words: readonly string[], context: ToolContext): Promise<GitOutput> {
  const done = await context.processes.run({ command: toShellLine(words), words, timeoutMs: TIMEOUT_MS })
  const { exitCode, timedOut, stdout, stderr, signal, notes } = done
  if (exitCode !== 0) {
    const said = stderr.trim() || stdout.trim()
    const why = timedOut
      ? `It took longer than ${TIMEOUT_MS / 1000} s.`
      : said || `It was ended by ${signal}.`
    throw new ToolError('failed', `git ${words.slice(1).join(' ')} failed:\n${why}`)
  }
  const text = [stdout.trim(), stderr.trim(), ...notes].filter(part => part !== '').join('\n')
  return { text, data: {} }
}
