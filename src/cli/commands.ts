import type { Command } from './command.ts'

interface Listed {
  readonly summary: string
  /** Second words, for completion. */
  readonly verbs?: readonly string[]
  load(): Promise<Command>
}

/** Every command, in the order of the help. Loaded when it is called. */
export const COMMANDS: Readonly<Record<string, Listed>> = {
  call: {
    summary: 'call one tool, or a batch of tools',
    load: async () => (await import('./commands/call.ts')).call,
  },
  run: {
    summary: 'give a model a task and let it work with the tools',
    load: async () => (await import('./commands/run.ts')).run,
  },
  build: {
    summary: 'let agents change this repository on a branch of its own, with checks',
    load: async () => (await import('./commands/build.ts')).build,
  },
  runs: {
    summary: "list, watch and steer agents' runs",
    verbs: ['list', 'show', 'tail', 'stop', 'pause', 'resume', 'rerun', 'say', 'approve', 'reject'],
    load: async () => (await import('./commands/runs.ts')).runs,
  },
  agents: {
    summary: 'create agents, and choose the tools they may use',
    verbs: ['list', 'show', 'create', 'edit', 'delete', 'tools', 'trust'],
    load: async () => (await import('./commands/agents.ts')).agents,
  },
  models: {
    summary: 'list and test models',
    verbs: ['list', 'test', 'default'],
    load: async () => (await import('./commands/models.ts')).models,
  },
  usage: {
    summary: 'show tokens and money that runs have used',
    load: async () => (await import('./commands/usage.ts')).usage,
  },
  data: {
    summary: "back up, restore and prune the database of agents' runs",
    verbs: ['backup', 'restore', 'prune'],
    load: async () => (await import('./commands/data.ts')).data,
  },
  explain: {
    summary: 'show what would be decided about a call, and why; runs nothing',
    load: async () => (await import('./commands/explain.ts')).explain,
  },
  approvals: {
    summary: 'list and answer questions that wait',
    verbs: ['list', 'show', 'approve', 'deny', 'history'],
    load: async () => (await import('./commands/approvals.ts')).approvals,
  },
  changes: {
    summary: 'list what calls changed, with diffs',
    load: async () => (await import('./commands/changes.ts')).changes,
  },
  undo: {
    summary: 'undo what calls changed',
    load: async () => (await import('./commands/undo.ts')).undo,
  },
  mcp: {
    summary: 'use Kogu from any agent over MCP; add MCP servers to Kogu',
    verbs: ['install', 'list', 'add', 'remove', 'test', 'tools', 'trust', 'approve'],
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  tools: {
    summary: 'list, show, add, test and trust tools',
    verbs: ['list', 'show', 'stats', 'add', 'test', 'trust', 'dynamic'],
    load: async () => (await import('./commands/tools.ts')).tools,
  },
  audit: {
    summary: 'list, show, verify and export the audit log',
    verbs: ['list', 'show', 'verify', 'export', 'restart'],
    load: async () => (await import('./commands/audit.ts')).audit,
  },
  permissions: {
    summary: 'list and test rules, try them on recorded calls, revoke remembered answers',
    verbs: ['list', 'test', 'explain', 'dry-run', 'lint', 'grants'],
    load: async () => (await import('./commands/permissions.ts')).permissions,
  },
  review: {
    summary: 'show what reviewers voted, and how reliable each is',
    verbs: ['list', 'stats', 'check'],
    load: async () => (await import('./commands/review.ts')).review,
  },
  pipeline: {
    summary: 'run pipelines: tools and panels chained in a file',
    verbs: [
      ...['run', 'list', 'show', 'validate', 'new', 'trust', 'resume', 'schedule', 'unschedule'],
      ...['accept', 'discard'],
    ],
    load: async () => (await import('./commands/pipeline.ts')).pipeline,
  },
  serve: {
    summary: 'serve the dashboard and the HTTP API of this workspace',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  open: {
    summary: 'open the dashboard in the browser',
    load: async () => (await import('./commands/open.ts')).open,
  },
  worker: {
    summary: 'work on queued runs, beside kogu serve',
    load: async () => (await import('./commands/worker.ts')).worker,
  },
  tokens: {
    summary: 'create and revoke API tokens',
    verbs: ['create', 'list', 'revoke'],
    load: async () => (await import('./commands/tokens.ts')).tokens,
  },
  config: {
    summary: 'read, change, check and trust settings',
    verbs: ['list', 'get', 'set', 'unset', 'edit', 'path', 'validate', 'schema', 'trust', 'untrust'],
    load: async () => (await import('./commands/config.ts')).config,
  },
  init: {
    summary: 'make a folder a Kogu workspace',
    load: async () => (await import('./commands/init.ts')).init,
  },
  completion: {
    summary: 'print a script for Tab completion in your shell',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
  doctor: {
    summary: 'check the set-up, and repair it with --fix',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
}
