import type { EffectName } from '../../effect-names.ts'
import type { Level } from '../types.ts'

/** What operands are touched: `copy`/`move` read all but the last and write the last; `archive` may do either with each. */
export type Targets = 'none' | 'read' | 'write' | 'delete' | 'copy' | 'move' | 'skip-first-write' | 'archive'

export interface Action {
  level: Level
  text: string
  effects: EffectName[]
  targets: Targets
}

export function act(level: Level, text: string, effects: EffectName[], targets: Targets = 'none'): Action {
  return { level, text, effects, targets }
}

export const BUILD = act('caution', 'builds or tests the project, which runs its code', [
  'runs-code',
  'writes-files',
])
export const CHECK = act('caution', 'checks the project with its own configuration, which can run code', [
  'runs-code',
])
export const INSTALL = act('caution', 'installs packages, which can run their scripts', [
  'package-scripts',
  'network',
  'writes-files',
])
export const RUNNER = act('unknown', 'downloads and runs a package', [
  'runs-code',
  'network',
  'package-scripts',
])
export const NET = act('caution', 'contacts another machine', ['network'])
export const ACCOUNT = act('dangerous', 'changes accounts of the machine', ['system-change', 'privilege'])
export const PUBLISH = act('dangerous', 'publishes a package', ['publishes', 'network', 'sends-data'])
export const PUBLISH_IMAGE = act('dangerous', 'publishes an image', [
  'publishes',
  'containers',
  'network',
  'sends-data',
])
export const CONTAINER = act('caution', 'talks to the container service', ['containers'])
export const CONTAINER_CHANGE = act('dangerous', 'changes or deletes containers, images or volumes', [
  'containers',
])
export const CLUSTER = act('dangerous', 'changes a cluster or cloud account', [
  'containers',
  'network',
  'sends-data',
])
export const SECRETS = act('caution', 'prints variables, which may hold secrets', ['reads-environment'])
export const LISTS = act('unknown', 'shows information about the machine', ['reads-files'])
export const SHELL_STATE = act('unknown', 'changes the shell itself', ['changes-environment'])
