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
    summary: 'call one tool, or a batch of them, through the whole pipeline',
    load: async () => (await import('./commands/call.ts')).call,
  },
  run: {
    summary: 'give a model a task and let it work with the tools',
    load: async () => (await import('./commands/run.ts')).run,
  },
  runs: {
    summary: "list, watch and steer agents' runs",
    verbs: ['list', 'show', 'tail', 'stop', 'pause', 'resume', 'rerun', 'say', 'approve', 'reject'],
    load: async () => (await import('./commands/runs.ts')).runs,
  },
  agents: {
    summary: 'agents and panels of this workspace, and the tools they may use',
    verbs: ['list', 'show', 'create', 'edit', 'delete', 'tools', 'trust'],
    load: async () => (await import('./commands/agents.ts')).agents,
  },
  models: {
    summary: 'list and test models',
    verbs: ['list', 'test', 'default'],
    load: async () => (await import('./commands/models.ts')).models,
  },
  usage: {
    summary: "tokens and money that agents' runs have used",
    load: async () => (await import('./commands/usage.ts')).usage,
  },
  data: {
    summary: "back up, restore and prune the database of agents' runs",
    verbs: ['backup', 'restore', 'prune'],
    load: async () => (await import('./commands/data.ts')).data,
  },
  explain: {
    summary: 'say what would be decided about a call and why; runs nothing',
    load: async () => (await import('./commands/explain.ts')).explain,
  },
  approvals: {
    summary: 'answer questions that calls have left behind',
    verbs: ['list', 'show', 'approve', 'deny', 'history'],
    load: async () => (await import('./commands/approvals.ts')).approvals,
  },
  changes: {
    summary: 'list what calls changed, with diffs',
    load: async () => (await import('./commands/changes.ts')).changes,
  },
  undo: {
    summary: 'take back what calls changed',
    load: async () => (await import('./commands/undo.ts')).undo,
  },
  mcp: {
    summary: 'offer the tools to any agent, as an MCP server',
    verbs: ['install', 'list', 'add', 'remove', 'test', 'tools', 'trust', 'approve'],
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  tools: {
    summary: 'list tools, show one, count calls',
    verbs: ['list', 'show', 'stats', 'add', 'test', 'trust', 'dynamic'],
    load: async () => (await import('./commands/tools.ts')).tools,
  },
  audit: {
    summary: 'list, show, verify and export what was recorded',
    verbs: ['list', 'show', 'verify', 'export', 'restart'],
    load: async () => (await import('./commands/audit.ts')).audit,
  },
  permissions: {
    summary: 'list and try rules, see what others would have decided, revoke grants',
    verbs: ['list', 'test', 'explain', 'dry-run', 'lint', 'grants'],
    load: async () => (await import('./commands/permissions.ts')).permissions,
  },
  review: {
    summary: 'what reviewers said, and how far each can be relied on',
    verbs: ['list', 'stats', 'check'],
    load: async () => (await import('./commands/review.ts')).review,
  },
  pipeline: {
    summary: 'run tools and panels one after another, as a file says',
    verbs: ['run', 'list', 'show', 'validate', 'new', 'trust', 'resume', 'schedule', 'unschedule'],
    load: async () => (await import('./commands/pipeline.ts')).pipeline,
  },
  serve: {
    summary: 'serve the dashboard and the HTTP API of this workspace',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  open: {
    summary: 'a link that signs a browser in to kogu serve',
    load: async () => (await import('./commands/open.ts')).open,
  },
  worker: {
    summary: 'work on queued runs beside kogu serve',
    load: async () => (await import('./commands/worker.ts')).worker,
  },
  tokens: {
    summary: 'make and revoke tokens for programs that use the API',
    verbs: ['create', 'list', 'revoke'],
    load: async () => (await import('./commands/tokens.ts')).tokens,
  },
  config: {
    summary: 'read, check and trust the configuration',
    verbs: ['list', 'get', 'set', 'unset', 'edit', 'path', 'validate', 'schema', 'trust', 'untrust'],
    load: async () => (await import('./commands/config.ts')).config,
  },
  init: {
    summary: 'make a folder a Kogu workspace',
    load: async () => (await import('./commands/init.ts')).init,
  },
  completion: {
    summary: 'print a script that lets a shell complete words with Tab',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
  doctor: {
    summary: 'check that everything Kogu needs is there',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
}
