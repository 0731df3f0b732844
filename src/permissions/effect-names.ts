/**
 * The one list of effects. The command analyser reports them, permission rules match them (`effects = [...]`),
 * the documentation prints them. Add here or nowhere.
 */
export const EFFECTS = {
  'reads-files': 'reads files or lists folders',
  'reads-environment': 'prints environment variables, process memory or other places where secrets live',
  'writes-files': 'creates or changes files',
  'deletes-files': 'deletes or moves files away',
  'delete-recursive': 'deletes whole folders',
  'delete-recursive-outside-project': 'deletes whole folders outside the workspace',
  'changes-permissions': 'changes owners or permissions of files',
  network: 'contacts another machine',
  'sends-data': 'sends files or text to another machine',
  'remote-shell': 'opens a shell on or for another machine',
  'runs-code': 'runs code that is chosen by arguments, files or another program',
  'package-scripts': 'installs packages or runs scripts of a package',
  privilege: 'runs as another user',
  'disk-write': 'writes to a disk or partition directly',
  'process-control': 'stops or signals processes',
  'system-change': 'changes services, kernel, accounts or other settings of the machine',
  power: 'shuts down or restarts the machine',
  'git-changes': 'changes the git index, branches or working tree',
  'git-history': 'rewrites or throws away git history or uncommitted work',
  publishes: 'publishes something that other people can see',
  'changes-environment': 'changes variables, functions or options that later commands use',
  background: 'leaves a process running',
  interactive: 'waits for a person at a terminal',
  containers: 'controls containers, virtual machines or clusters',
  database: 'reads or changes a database',
} as const satisfies Record<string, string>

export type EffectName = keyof typeof EFFECTS

/** Sorted by name in the order of the table, for docs and `kogu permissions lint`. */
export const EFFECT_NAMES = Object.keys(EFFECTS) as EffectName[] // `as`: Object.keys widens to string
