import * as z from 'zod'
import { ToolError } from '../core/errors.ts'
import { defineTool } from '../core/tool.ts'

const DEFAULT_TIMEOUT_MS = 120_000
const LONGEST_TIMEOUT_MS = 600_000

export const runCommand = defineTool({
  name: 'run_command',
  aliases: ['Bash', 'bash', 'shell', 'shell_exec'],
  parameterAliases: {
    timeout: 'timeout_ms',
    timeout_secs: { to: 'timeout_ms', convert: value => (typeof value === 'number' ? value * 1000 : value) },
    run_in_background: 'background',
    cwd: 'working_dir',
  },
  title: 'Run a command',
  description:
    'Run a command line in the workspace. Lines that only read run at once; others are asked about. ' +
    'Use read_file, edit_file, glob_search and grep_search instead of cat, sed, find and grep.',
  category: 'Execution',
  risk: 'high',
  input: z.object({
    command: z
      .string()
      .min(1, 'Command cannot be empty')
      .refine(
        line => line.trim() !== '' && !line.includes('\0'),
        'Command cannot be empty or hold a NUL character',
      )
      .describe('The command line, as for bash'),
    description: z
      .string()
      .optional()
      .describe('What it is for, in a few words; shown to the person who is asked'),
    working_dir: z.string().optional().describe('Folder to run in; default: where the run stands'),
    timeout_ms: z
      .int()
      .min(1)
      .max(LONGEST_TIMEOUT_MS)
      .default(DEFAULT_TIMEOUT_MS)
      .describe('Wall clock in milliseconds; then everything it started is ended'),
    background: z.boolean().default(false).describe('Return a handle at once and leave it running'),
  }),
  access: ({ command, working_dir }) => [
    { kind: 'execute', command, ...(working_dir === undefined ? {} : { cwd: working_dir }) },
  ],
  run: () => Promise.reject(new ToolError('failed', 'Running commands is not part of this build.')),
})
