import { hash } from 'node:crypto'
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hasNoLinks } from '../core/made-here.ts'

/** Where one workspace's state is kept. */
export interface Places {
  /**
   * `.kogu` in the workspace, or a folder of its own in the state folder when the workspace cannot be written or brought
   * links along in the place of what Kogu keeps there.
   */
  readonly state: string
  readonly audit: string
  /** Outside the workspace: what proves that nothing was cut off the audit log. */
  readonly anchors: string
  /**
   * Every log of the workspace that can be read, the one that is written to first. While the workspace cannot be written,
   * its calls are recorded elsewhere; what was recorded before, or meanwhile, belongs to its history all the same.
   */
  readonly logs: readonly { readonly directory: string; readonly anchorDirectory: string }[]
  readonly undo: string
  readonly locks: string
  readonly runs: string
  /** Questions that wait for an answer. */
  readonly approvals: string
  /** Which of them still wait; outside the workspace, so that no answer is used a second time. */
  readonly waiting: string
  /** What calls that wait had done by calls inside of them; outside the workspace for the same reason. */
  readonly journals: string
  readonly output: string
  /** Layers on which commands run. */
  readonly overlays: string
  /** A private /tmp for the commands of each run. */
  readonly temporary: string
  readonly background: string
  /** What commands find in the place of the person's caches; outside the workspace, because it can become large. */
  readonly caches: string
  /** Dynamic tools of the workspace. */
  readonly tools: string
  /** Which dynamic tools were made here; outside the workspace. */
  readonly toolLedger: string
  /** Runs, summaries and schedules of pipelines; outside the workspace, so that no repository brings any along. */
  readonly pipelines: string
  /** Copies in which builds work: beside the state folder and not in it, because that is closed to agents. */
  readonly builds: string
  /** The last test of each provider of models. */
  readonly providerTests: string
  /** Of the person, for all workspaces. */
  readonly grants: string
  readonly userTools: string
  /** The key for what Kogu keeps in the workspace and believes later; outside of it. */
  readonly sealKey: string
  readonly inWorkspace: boolean
  /** Whether commands can run on layers: these lie on the disk of the workspace. */
  readonly hasLayers: boolean
}

/** Nothing is created here; whoever writes first makes the folder. */
export function placesFor(workspace: string, stateDirectory: string): Places {
  const id = hash('sha256', workspace).slice(0, 16)
  const own = join(stateDirectory, 'workspaces', id)
  const folder = join(workspace, '.kogu')
  const hasOwnFolders = hasNoLinks(folder, STATE)
  const inWorkspace = canWrite(folder) && hasOwnFolders
  const state = inWorkspace ? folder : own
  const here = { directory: join(folder, 'audit'), anchorDirectory: join(own, 'anchors') }
  const elsewhere = { directory: join(own, 'audit'), anchorDirectory: join(own, 'anchors-elsewhere') }
  const [written, other] = inWorkspace ? [here, elsewhere] : [elsewhere, here]
  const hasOther = (other === elsewhere || hasOwnFolders) && existsSync(other.directory)
  return {
    state,
    audit: written.directory,
    anchors: written.anchorDirectory,
    logs: hasOther ? [written, other] : [written],
    undo: join(state, 'undo'),
    locks: join(state, 'locks'),
    runs: join(state, 'runs'),
    approvals: join(state, 'approvals'),
    waiting: join(own, 'waiting'),
    journals: join(own, 'journals'),
    output: join(state, 'output'),
    overlays: join(state, 'overlays'),
    temporary: join(state, 'tmp'),
    background: join(state, 'background'),
    caches: join(own, 'caches'),
    tools: join(state, 'tools'),
    toolLedger: join(own, 'dynamic-tools.json'),
    pipelines: join(own, 'pipelines'),
    builds: join(`${stateDirectory}-builds`, id),
    providerTests: join(own, 'provider-tests.json'),
    grants: join(stateDirectory, 'grants.json'),
    userTools: join(stateDirectory, 'tools'),
    sealKey: join(own, 'seal.key'),
    inWorkspace,
    hasLayers: inWorkspace,
  }
}

/**
 * Of a copy of a workspace in which agents work by themselves: what it changes has records of its own, beside the copy.
 * What it asks, what is recorded and how far it is belongs to the workspace, so that the person finds it there.
 */
export function placesForCopy(workspace: Places, state: string): Places {
  return {
    ...workspace,
    state,
    undo: join(state, 'undo'),
    locks: join(state, 'locks'),
    runs: join(state, 'runs'),
    output: join(state, 'output'),
    overlays: join(state, 'overlays'),
    temporary: join(state, 'tmp'),
    background: join(state, 'background'),
    caches: join(state, 'caches'),
    tools: join(state, 'tools'),
    toolLedger: join(state, 'dynamic-tools.json'),
    inWorkspace: false,
    hasLayers: true,
  }
}

export function logFolders({ logs }: Places): string[] {
  return logs.map(({ directory }) => directory)
}

/** What a repository may not send elsewhere by a link: Kogu writes, empties and deletes in these. */
const STATE = [
  'audit',
  'undo',
  'locks',
  'runs',
  'approvals',
  'output',
  'overlays',
  'tmp',
  'background',
  'tools',
] as const

function canWrite(folder: string): boolean {
  const place = existsSync(folder) ? folder : dirname(folder)
  try {
    accessSync(place, constants.W_OK)
    return true
  } catch {
    // A read-only mount, or a workspace of somebody else.
    return false
  }
}
