/**
 * What nobody can approve. Every rule looks at one simple command with its arguments as they may turn out; wrappers are
 * peeled before. A rule returns the rest of the sentence "This line ...".
 */
import type { EffectName } from '../effect-names.ts'
import { type Arg, seen } from './args.ts'
import { isHistoryFile, isRawDevice, protectedName, protectedTarget } from './destructive-paths.ts'
import { absolutePaths, type Report, type Scope } from './state.ts'

export interface ForbiddenCall {
  program: string
  args: Arg[]
  words: string[]
  scope: Scope
  report: Report
}

export function forbiddenReason(call: ForbiddenCall): string | null {
  const direct = ALWAYS.get(call.program)
  if (direct !== undefined) return direct
  if (call.program.startsWith('mkfs.')) return 'formats a disk'
  const rule = RULES.get(call.program)
  return rule?.(call) ?? null
}

const ALWAYS: ReadonlyMap<string, string> = new Map([
  ...all('shutdown reboot halt poweroff', 'shuts down or restarts the machine'),
  ...all('insmod modprobe rmmod kexec', 'loads or removes kernel code'),
  ...all('mkfs mke2fs mkswap mkdosfs mkntfs wipefs blkdiscard newfs', 'formats or erases a disk'),
  ...all('killall5', 'kills every process'),
])

function all(names: string, text: string): [string, string][] {
  return names.split(' ').map(name => [name, text])
}

type Rule = (call: ForbiddenCall) => string | null

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...rules('rm grm srm', recursiveDelete),
  ...rules('find gfind', findDelete),
  ...rules('chmod chown chgrp setfacl chattr', recursiveRights),
  ...rules('mv rename', moveAway),
  ...rules('shred truncate tee cp install ln dd rsync cat unlink trash trash-put', overwrite),
  ...rules('init telinit', ({ words }) =>
    words.some(word => /^[06sS1]$/.test(word)) ? 'shuts down or restarts the machine' : null,
  ),
  ...rules('systemctl loginctl', systemPower),
  ...rules('fdisk sfdisk gdisk sgdisk cfdisk parted', partition),
  ...rules('cryptsetup hdparm nvme badblocks zpool diskutil dmsetup', diskTool),
  ...rules('kmod', ({ words }) =>
    /^(?:load|insert|remove|static-nodes)$/.test(words[0] ?? '') ? 'loads or removes kernel code' : null,
  ),
  ...rules('history', ({ words }) =>
    words.some(word => /^-\w*c/.test(word)) ? 'wipes the command history' : null,
  ),
  ...rules('kill', killAll),
  ...rules('pkill', pkillAll),
  ...rules('killall', killallAll),
  ...rules('nc ncat netcat nc.traditional nc.openbsd', netcat),
  ...rules('socat', ({ words }) =>
    words.some(word => /^(?:exec|system|shell)\b/i.test(word) || /\b(?:EXEC|SYSTEM):/i.test(word))
      ? 'gives another machine a shell'
      : null,
  ),
  ...rules('git', gitClean),
  ...rules('gio', ({ args, words, scope, report }) =>
    /^(?:trash|remove)$/.test(words[0] ?? '') ? treeTarget(args.slice(1), scope, report, 'deletes') : null,
  ),
  ...rules('rimraf', ({ args, scope, report }) => treeTarget(args, scope, report, 'deletes')),
  ...rules('npx bunx pnpx', ({ args, words, scope, report }) =>
    words.includes('rimraf') ? treeTarget(args, scope, report, 'deletes') : null,
  ),
  ...rules('tar gtar bsdtar zip 7z 7za', packAway),
  ...rules('sysctl', ({ words }) =>
    words.some(word => /kernel\.panic|sysrq/.test(word) && word.includes('='))
      ? 'makes the kernel stop'
      : null,
  ),
])

function rules(names: string, rule: Rule): [string, Rule][] {
  return names.split(' ').map(name => [name, rule])
}

function isOption(word: string): boolean {
  return word.startsWith('-') && word.length > 1
}

/** GNU accepts any unambiguous beginning of a long option. */
function hasFlag(words: string[], letters: RegExp, long: string): boolean {
  return words.some(word => {
    if (word.startsWith('--')) return word.length > 2 && long.startsWith(word.slice(2).split('=')[0] ?? '-')
    return isOption(word) && letters.test(word)
  })
}

function recursiveDelete({ args, words, scope, report }: ForbiddenCall): string | null {
  const history = historyTarget(args, scope)
  if (history) return 'wipes the command history'
  // In `rm -- -r` the second word is a file.
  const end = words.indexOf('--')
  const options = end === -1 ? words : words.slice(0, end)
  if (!hasFlag(options, /[rR]/, 'recursive') && !words.includes('--no-preserve-root')) return null
  return treeTarget(args, scope, report, 'deletes')
}

/** The first protected folder among the operands. */
function treeTarget(args: Arg[], scope: Scope, report: Report, verb: string): string | null {
  for (const arg of args) {
    if (isOption(seen(arg)) && arg.text !== null) continue
    const name = protectedTarget(arg, scope, report.context)
    if (name !== null) return `${verb} ${name}`
  }
  return null
}

const NARROWING =
  /^-(?:i?name|i?path|i?wholename|i?regex|[amc](?:time|min)|newer\w*|size|empty|user|group|uid|gid|perm|links|inum|samefile|lname|fstype)$/

function findDelete({ args, words, scope, report }: ForbiddenCall): string | null {
  const exec = words.findIndex(word => /^-(?:exec|execdir|ok|okdir)$/.test(word))
  const command = words[exec + 1] ?? ''
  const deletes =
    words.includes('-delete') ||
    (exec !== -1 && /(?:^|\/)(?:rm|shred|unlink|chmod|chown|mv|dd|truncate)$/.test(command))
  if (!deletes) return null
  const named = words.some((word, i) => /^-i?(?:name|path)$/.test(words[i - 1] ?? '') && isHistoryFile(word))
  if (named) return 'wipes the command history'
  const first = words.findIndex(word => word.startsWith('-') && !/^-[HLPDO]/.test(word))
  const paths = args.slice(0, first === -1 ? undefined : first).filter(arg => !isOption(seen(arg)))
  const isNarrow = words.some(
    (word, i) =>
      NARROWING.test(word) && !matchesAll(words[i + 1] ?? '') && !/^(?:!|-not)$/.test(words[i - 1] ?? ''),
  )
  if (isNarrow && !words.some(word => /^-(?:o|or)$|^,$/.test(word))) return null
  return treeTarget(paths, scope, report, 'deletes or changes')
}

function matchesAll(value: string): boolean {
  return /^[.*?]*\*[.*?]*$|^\.\*$|^\+?-?0c?$/.test(value)
}

function recursiveRights({ args, words, scope, report }: ForbiddenCall): string | null {
  if (!hasFlag(words, /R/, 'recursive')) return null
  return treeTarget(args, scope, report, 'changes the permissions of')
}

function moveAway({ args, words, scope, report }: ForbiddenCall): string | null {
  if (historyTarget(args.slice(0, -1), scope)) return 'wipes the command history'
  const target = words.findIndex(word => /^-t|^--target/.test(word)) !== -1
  return treeTarget(target ? args : args.slice(0, -1), scope, report, 'moves away')
}

function overwrite(call: ForbiddenCall): string | null {
  const { program, args, words, scope, report } = call
  if (program === 'cat') return null
  const targets =
    program === 'dd' ? words.filter(word => word.startsWith('of=')).map(word => word.slice(3)) : words
  for (const target of program === 'cp' || program === 'rsync' ? targets.slice(-1) : targets) {
    const reason = absolutePaths(target, scope)
      .map(kernelWrite)
      .find(text => text !== null)
    if (reason != null) return reason
  }
  const emptied = /^(?:shred|truncate|unlink|trash|trash-put)$/.test(program)
    ? args
    : emptying(words)
      ? args.slice(-1)
      : []
  if (historyTarget(emptied, scope)) return 'wipes the command history'
  if (program === 'shred' || program.startsWith('trash')) return treeTarget(args, scope, report, 'destroys')
  if (program === 'rsync' && words.some(word => /^--(?:del|remove-source)/.test(word))) {
    return treeTarget(
      words.includes('--remove-source-files') ? args : args.slice(-1),
      scope,
      report,
      'deletes',
    )
  }
  return null
}

/** `cp /dev/null ~/.bash_history`, `ln -sf /dev/null ~/.bash_history`. */
function emptying(words: string[]): boolean {
  return words.includes('/dev/null')
}

function historyTarget(args: Arg[], scope: Scope): boolean {
  return args.some(arg => absolutePaths(seen(arg), scope).some(isHistoryFile) || isHistoryFile(seen(arg)))
}

/** Archives that take the place of what they hold. */
function packAway({ program, args, words, scope, report }: ForbiddenCall): string | null {
  const moves = program === 'zip' ? /^-[a-zA-Z]*m|^--move/ : program.startsWith('7z') ? /^-sdel$/ : /^--remo/
  return words.some(word => moves.test(word)) ? treeTarget(args, scope, report, 'deletes') : null
}

function systemPower({ words }: ForbiddenCall): string | null {
  const power =
    /^(?:poweroff|reboot|halt|kexec|suspend|hibernate|hybrid-sleep|suspend-then-hibernate|soft-reboot|emergency|rescue|exit)$/
  const isolates =
    words.includes('isolate') ||
    (words.includes('start') &&
      words.some(word => /^(?:poweroff|reboot|halt|rescue|emergency|shutdown)\.target$/.test(word)))
  return words.some(word => power.test(word)) || isolates ? 'shuts down or restarts the machine' : null
}

function partition({ words }: ForbiddenCall): string | null {
  const lists = words.some(word =>
    /^(?:-l|-p|-d|--list|--dump|--print|print|-x|-V|-v|--version|--help|-h|-s)$/.test(word),
  )
  const writes = words.some(word =>
    /^(?:mklabel|mkpart|rm|resizepart|mktable|-o|-Z|--zap|--zap-all|-n|-g|--delete|--wipe)$/.test(word),
  )
  return (lists && !writes) || words.length === 0 ? null : 'changes the partitions of a disk'
}

function diskTool({ program, words }: ForbiddenCall): string | null {
  const erase =
    /^(?:luksFormat|luksErase|erase|--security-erase\S*|--trim\S*|format|sanitize|-w|destroy|labelclear|eraseDisk|eraseVolume|secureErase|zeroDisk|partitionDisk|reformat|wipe_table)$/i
  if (program === 'hdparm' && !words.some(word => word.startsWith('--'))) return null
  return words.some(word => erase.test(word)) ? 'erases a disk' : null
}

function killAll({ words }: ForbiddenCall): string | null {
  const end = words.indexOf('--')
  const first = words[0] ?? ''
  // A signal comes first (`-9`, `-s 9`, `-KILL`); a `-1` after it is every process.
  const signal = /^-(?:s|n|-signal)$/.test(first) ? 2 : isOption(first) ? 1 : 0
  const targets = words.slice(end === -1 ? signal : end + 1)
  return targets.some(word => /^-0*1$/.test(word)) ? 'kills every process' : null
}

function pkillAll({ words }: ForbiddenCall): string | null {
  const values = /^-(?:u|U|g|G|t|P|s|F|-signal|-euid|-uid|-group|-parent|-terminal|-ns)$/
  const patterns = words.filter((word, i) => !isOption(word) && !values.test(words[i - 1] ?? ''))
  const matches = patterns.some(word => /^(?:\^?\.[*+]?\$?|\^?\(?\.\*\)?\$?|\^|\$|\^\$?|)$/.test(word))
  const byUser = patterns.length === 0 && words.some(word => /^-(?:u|U)|^--(?:euid|uid)/.test(word))
  const inverse = words.some(word => /^-\w*v\w*$|^--inverse$/.test(word))
  return matches || byUser || inverse ? 'kills every process' : null
}

function killallAll({ words }: ForbiddenCall): string | null {
  const byUser = words.some(word => /^-\w*u|^--user/.test(word))
  const names = words.filter(
    (word, i) => !isOption(word) && !/^-(?:s|u|-signal|-user)$/.test(words[i - 1] ?? ''),
  )
  const regex = words.some(word => /^-\w*r\w*$|^--regexp$/.test(word))
  const every = regex && names.some(word => /^\^?\.[*+]?\$?$/.test(word))
  return (byUser && names.length === 0) || every ? 'kills every process' : null
}

function netcat({ words, scope }: ForbiddenCall): string | null {
  const exec = words.some(word => /^--(?:exec|sh-exec|lua-exec)/.test(word) || /^-[a-zA-Z]*e/.test(word))
  const shell = words.some(
    (word, i) => /^-c$/.test(words[i - 1] ?? '') && /\bsh\b|\/\w*sh$|^\w*sh$|cmd\.exe/.test(word),
  )
  if (exec || shell) return 'gives another machine a shell'
  return scope.piped ? 'sends its input over a raw connection' : null
}

function gitClean({ words, scope, report }: ForbiddenCall): string | null {
  const at = words.indexOf('clean')
  if (at === -1 || !words.slice(at).some(word => /^-\w*f/.test(word))) return null
  const inFolder =
    words.indexOf('-C') !== -1
      ? absolutePaths(words[words.indexOf('-C') + 1] ?? '', scope)
      : (scope.cwds ?? [])
  const hit = inFolder.map(cwd => protectedName(cwd, report.context)).find(name => name !== null)
  return hit == null ? null : `deletes ${hit}`
}

/** Effects that go with a reason, for rules and the audit log. */
export function forbiddenEffects(reason: string): EffectName[] {
  if (reason.startsWith('shuts down')) return ['power']
  if (/disk/.test(reason)) return ['disk-write']
  if (/kernel/.test(reason)) return ['system-change']
  if (/process/.test(reason)) return ['process-control']
  if (/shell|connection/.test(reason)) return ['network', 'remote-shell']
  return reason.startsWith('changes the rights')
    ? ['changes-permissions']
    : ['deletes-files', 'delete-recursive']
}

/** Writing to these paths by a redirect is never allowed. */
export function forbiddenRedirect(path: string, writes: boolean): string | null {
  if (/^\/dev\/(?:tcp|udp)\//.test(path)) return 'opens a raw network connection from the shell'
  if (!writes) return null
  return kernelWrite(path) ?? (isHistoryFile(path) ? 'wipes the command history' : null)
}

function kernelWrite(path: string): string | null {
  if (isRawDevice(path)) return 'writes to a disk directly'
  if (/^\/proc\/(?:sysrq-trigger|kcore|sys\/kernel\/(?:panic|sysrq|core_pattern|modprobe))/.test(path))
    return 'makes the kernel stop or run something'
  return null
}

/** `>>` only adds to a history; `>` empties it. */
export function isAppend(operator: string): boolean {
  return operator === '>>' || operator === '&>>'
}

const BOMB =
  /\bfork\b[^\n]{0,30}\b(?:while|until)\b|(?:while\s*\(?\s*(?:1|true)\b|\bloop\b|iter\(int)[\s\S]{0,60}\b(?:fork|spawn)\b|\bfork\(\)[^\n]{0,20}iter\(int/i
const SOCKET =
  /socket|fsockopen|TCPSocket|net\.connect|net\.Socket|IO::Socket|\/inet\/tcp|System\.Net\.Sockets|createConnection/i
const SHELL =
  /dup2|\/bin\/(?:ba|da|z)?sh|["'](?:ba|z|k)?sh["']|pty\.spawn|popen|subprocess|child_process|cmd\.exe|exec\s*\(|exec\s*\{|exec\s+["']|proc_open|shell_exec|passthru/i

/** Inline code of python, perl, ruby, php, node, awk: fork bombs and shells over sockets, as far as text shows it. */
export function forbiddenCode(code: string): string | null {
  const text = code.slice(0, 20_000)
  if (BOMB.test(text)) return 'starts processes without end'
  if (/\/inet[46]?\/(?:tcp|udp)\//.test(text)) return 'opens a raw network connection'
  return SOCKET.test(text) && SHELL.test(text) ? 'gives another machine a shell' : null
}
