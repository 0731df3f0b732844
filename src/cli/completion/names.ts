import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../config/environment.ts'
import { findWorkspace } from '../../config/workspace-root.ts'
import type { Candidate } from './complete.ts'

export interface Place {
  readonly environment: Environment
  readonly cwd: string
}

type Names = (place: Place) => readonly string[] | Promise<readonly (string | Candidate)[]>

const modes: Names = () => ['ask', 'accept-edits', 'read-only', 'auto']
const runVerbs = ['show', 'tail', 'stop', 'pause', 'resume', 'rerun', 'say', 'approve', 'reject']
const pipelineVerbs = ['run', 'show', 'validate', 'trust']

/** What is completed where: by an option, or by a command with its verb. */
const NAMES: Readonly<Record<string, Names>> = {
  '--mode': modes,
  '--color': () => ['auto', 'always', 'never'],
  '--lang': () => ['en', 'ja', 'ko'],
  '--on-ask': () => ['fail', 'deny', 'wait'],
  '--orchestration': () => ['none', 'automatic', 'approval'],
  '--by': () => ['model', 'day', 'agent', 'run'],
  '--status': () => ['pending', 'running', 'completed', 'failed', 'cancelled'],
  '--panel': panels,
  '--model': models,
  '--continue': runs,
  'runs --agent': subAgents,
  '--tool': tools,
  '--tools': tools,
  call: tools,
  explain: tools,
  completion: () => ['bash', 'zsh', 'fish', 'powershell'],
  'tools show': tools,
  'config get': settings,
  'config set': settings,
  'config unset': settings,
  'models test': models,
  'permissions explain': rules,
  ...Object.fromEntries(runVerbs.map(verb => [`runs ${verb}`, runs])),
  ...Object.fromEntries(pipelineVerbs.map(verb => [`pipeline ${verb}`, pipelines])),
  'pipeline accept': builds,
  'pipeline discard': builds,
  ...Object.fromEntries(['show', 'approve', 'deny'].map(verb => [`approvals ${verb}`, questions])),
}

export async function namesFor(where: string, place: Place): Promise<Candidate[]> {
  const find = Object.hasOwn(NAMES, where) ? NAMES[where] : undefined
  const found = find === undefined ? [] : await find(place)
  return found.map(name => (typeof name === 'string' ? { value: name } : name))
}

/** A test compares them with the registry. Loading that takes longer than a person waits for a completion. */
export const BUILTIN_TOOLS = [
  ...['read_file', 'write_file', 'edit_file', 'apply_patch', 'move_file', 'delete_file', 'list_directory'],
  ...['glob_search', 'grep_search', 'find_tools', 'git_ops', 'self_eval', 'web_fetch', 'web_search'],
  ...['run_command', 'command_input', 'command_list', 'command_output', 'command_stop'],
]

async function tools(place: Place): Promise<string[]> {
  const { loadConfig } = await import('../../config/load.ts')
  const { config } = loadConfig(place)
  return [...BUILTIN_TOOLS, ...Object.keys(config.tools.custom)]
}

async function settings(place: Place): Promise<string[]> {
  const [{ loadConfig }, { listKeys }] = await Promise.all([
    import('../../config/load.ts'),
    import('../../config/keys.ts'),
  ])
  return listKeys(loadConfig(place)).map(({ key }) => key)
}

async function rules(place: Place): Promise<string[]> {
  const { loadConfig } = await import('../../config/load.ts')
  return loadConfig(place).config.permissions.rules.flatMap(({ id }) => id ?? [])
}

async function models(place: Place): Promise<string[]> {
  const [{ loadConfig }, { openModels }] = await Promise.all([
    import('../../config/load.ts'),
    import('../../models.ts'),
  ])
  return openModels(loadConfig(place), place.environment)
    .list()
    .flatMap(({ vendor, models: names }) => names.map(name => `${vendor.name}/${name}`))
}

function panels(place: Place): string[] {
  return filesIn(place, '.kogu/panels', '.toml')
}

function pipelines(place: Place): string[] {
  return filesIn(place, '.kogu/pipelines', '.toml')
}

/** Those that nobody has taken or thrown away. */
async function builds({ environment, cwd }: Place): Promise<Candidate[]> {
  const [{ pipelineRunsOf }, { placesFor }] = await Promise.all([
    import('../../store/pipeline-runs.ts'),
    import('../../store/places.ts'),
  ])
  const places = placesFor(findWorkspace(cwd, environment).root, environment.directories.state)
  const open = pipelineRunsOf(places)
    .list()
    .filter(({ build }) => build !== undefined && build.settled === undefined)
  return open.map(({ id, input }) => ({ value: id, meaning: String(input.goal ?? '') }))
}

function questions(place: Place): string[] {
  return filesIn(place, '.kogu/approvals', '.json')
}

function filesIn({ environment, cwd }: Place, folder: string, ending: string): string[] {
  const { root } = findWorkspace(cwd, environment)
  return readdirSync(join(root, folder))
    .filter(name => name.endsWith(ending))
    .map(name => name.slice(0, -ending.length))
}

/** The newest of this workspace. */
async function runs(place: Place): Promise<Candidate[]> {
  const rows = await lookUp(
    place,
    `SELECT id::text AS value, spec->>'task' AS meaning FROM workflow_runs WHERE workspace = $1 ORDER BY created_at DESC LIMIT 20`,
  )
  return rows.map(({ value, meaning }) => ({ value: value.slice(0, 8), meaning }))
}

/** Sub-agents of this workspace that are at work. */
function subAgents(place: Place): Promise<Candidate[]> {
  return lookUp(
    place,
    `SELECT DISTINCT a.name AS value, left(e.input_text, 200) AS meaning
     FROM agent_executions e JOIN agents a ON a.id = e.agent_id JOIN workflow_runs r ON r.id = e.workflow_run_id
     WHERE r.workspace = $1 AND e.parent_execution_id IS NOT NULL AND e.completed_at IS NULL LIMIT 20`,
  )
}

/** Where the database is there already: nothing is started for a completion. */
async function lookUp(
  { environment, cwd }: Place,
  query: string,
): Promise<{ value: string; meaning: string }[]> {
  const { peekDatabase } = await import('../../store/database/peek.ts')
  const url = environment.variables.DATABASE_URL
  const database = await peekDatabase({
    folder: environment.directories.data,
    ...(url === undefined || url === '' ? {} : { url }),
  })
  if (database === undefined) return []
  try {
    const { root } = findWorkspace(cwd, environment)
    return await database.query<{ value: string; meaning: string }>(query, [root])
  } finally {
    await database.close()
  }
}
