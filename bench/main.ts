// `npm run bench [-- SECTION…]`: Kogu beside what it is compared with, measured in turn in one run.
import { statfsSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { type Row, toTable } from './table.ts'

interface Section {
  readonly title: string
  run(): Promise<Row[]>
}

const SECTIONS: Readonly<Record<string, Section>> = {
  start: {
    title: 'start: the built program, a new process each time',
    run: async () => (await import('./start.ts')).measureStart(),
  },
  calls: {
    title: 'calls: one call through the whole pipeline (validated, decided, audited)',
    run: async () => (await import('./calls.ts')).measureCalls(),
  },
  decide: {
    title: 'decide: what may happen',
    run: async () => (await import('./decide.ts')).measureDecisions(),
  },
  files: {
    title:
      'files: Kogu in process through the whole runtime (decided, audited, undoable, synced) against a server on stdio (none of it)',
    run: async () => (await import('./files.ts')).measureFiles(),
  },
  mcp: {
    title:
      'mcp: kogu mcp on stdio (decided, audited) against the reference file server (none of it), same client',
    run: async () => (await import('./mcp.ts')).measureMcp(),
  },
  search: {
    title: 'search: through the whole runtime against the bare ripgrep of the same package',
    run: async () => (await import('./search.ts')).measureSearch(),
  },
  processes: {
    title: 'processes: starting a program, in the sandbox and out of it',
    run: async () => (await import('./processes.ts')).measureProcesses(),
  },
  commands: {
    title: 'commands: what run_command changes, recorded and taken back',
    run: async () => (await import('./commands.ts')).measureCommands(),
  },
  contained: {
    title: 'contained: lines that run first, beside the same programs bare',
    run: async () => (await import('./contained.ts')).measureContained(),
  },
  html: {
    title: 'html: pages as Markdown, and what is kept of them',
    run: async () => (await import('./html.ts')).measureHtml(),
  },
  dynamic: {
    title: 'dynamic: model-written code in an isolate behind walls, beside what else runs JavaScript',
    run: async () => (await import('./dynamic.ts')).measureDynamic(),
  },
  agents: {
    title: "agents: the loop beside the AI SDK's, durable steps, the first request",
    run: async () => (await import('./agents.ts')).measureAgents(),
  },
  kills: {
    title: 'kills: agents with side effects, killed at random moments and resumed (seven minutes at most)',
    run: async () => (await import('./agents.ts')).measureKills(),
  },
  'build-kills': {
    title: 'build-kills: kogu build, killed at every step and at many moments, and resumed (five minutes)',
    run: async () => (await import('./builds.ts')).measureBuildKills(),
  },
  'own-build': {
    title: "own-build: kogu build on Kogu's own repository, with a played model that adds a small tool",
    run: async () => (await import('./builds.ts')).measureOwnBuild(),
  },
  'cluster-kills': {
    title:
      'cluster-kills: workers, server and PostgreSQL killed and frozen at random moments (ten minutes at most)',
    run: async () => (await import('./cluster-kills.ts')).measureClusterKills(),
  },
  server: {
    title: 'server: the HTTP door (checked, counted, logged) beside servers that check nothing',
    run: async () => (await import('./server.ts')).measureServer(),
  },
  'server-crowd': {
    title: 'server-crowd: 200 runs, 500 listeners and 50 questions at once',
    run: async () => (await import('./server.ts')).measureCrowd(),
  },
  'server-workers': {
    title: 'server-workers: worker processes on one queue, some of them killed',
    run: async () => (await import('./server-workers.ts')).measureWorkers(),
  },
  orchestration: {
    title: 'orchestration: verdicts, pipelines and sub-agents, with played models',
    run: async () => (await import('./orchestration.ts')).measureOrchestration(),
  },
  edits: {
    title: 'edits: the property test of the edit tool at full length',
    run: async () => (await import('./long-tests.ts')).measureEdits(),
  },
  'file-kills': {
    title: 'file-kills: the kill tests of files and of the audit log at full length',
    run: async () => (await import('./long-tests.ts')).measureKills(),
  },
  'small-files': {
    title: 'small-files: a contained command that makes a million files',
    run: async () => (await import('./long-tests.ts')).measureSmallFiles(),
  },
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter(name => !(name in SECTIONS))
if (unknown.length > 0) {
  console.error(`No such section: ${unknown.join(', ')}. There are: ${Object.keys(SECTIONS).join(', ')}`)
  process.exit(2)
}
process.exitCode = (await runSections(wanted.length === 0 ? Object.keys(SECTIONS) : wanted)) ? 0 : 1

/** Figures decide nothing here: only a section that could not be measured makes the run fail. */
async function runSections(names: readonly string[]): Promise<boolean> {
  const [cpu] = cpus()
  const disk = `0x${statfsSync(tmpdir()).type.toString(16)}`
  console.log(
    `${availableParallelism()} × ${cpu?.model ?? 'unknown processor'}, Node ${process.version}, file system ${disk}`,
  )
  console.log(`load ${loadavg()[0]?.toFixed(1)}; medians; ratio = Kogu / peer, so under 1 Kogu is faster\n`)
  const rows: Row[] = []
  let complete = true
  for (const name of names) {
    const section = SECTIONS[name]
    if (section === undefined) continue
    console.log(section.title)
    const started = performance.now()
    try {
      const measured = await section.run()
      rows.push(...measured)
      console.log(toTable(measured))
    } catch (error) {
      complete = false
      console.log(`  not measured: ${error instanceof Error ? error.message : String(error)}`)
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    console.log(`  ${seconds} s, load ${loadavg()[0]?.toFixed(1)}\n`)
  }
  const judged = rows.filter(row => row.verdict !== '')
  const missed = judged.filter(row => row.verdict === 'MISSED').map(row => row.name)
  console.log(`${judged.length - missed.length} of ${judged.length} targets met`)
  if (missed.length > 0) console.log(`missed: ${missed.join('; ')}`)
  return complete
}
