/**
 * What nobody can approve. Every rule looks at one simple command with its arguments as they may turn out; wrappers are
 * peeled before. A rule returns the rest of the sentence "This line ...".
 */
import type { EffectName } from '../effect-names.ts'
import { type Arg, entriesFor, seen } from './args.ts'
import { isRawDevice, protectedTarget } from './destructive-paths.ts'
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
  ...entriesFor('shutdown reboot halt poweroff', 'shuts down or restarts the machine'),
  ...entriesFor('insmod modprobe rmmod kexec', 'loads or removes kernel code'),
  ...entriesFor('mkfs mke2fs mkswap mkdosfs mkntfs wipefs blkdiscard newfs', 'formats or erases a disk'),
])

type Rule = (call: ForbiddenCall) => string | null

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...entriesFor<Rule>('rm grm srm', recursiveDelete),
  ...entriesFor<Rule>('find gfind', findDelete),
  ...entriesFor<Rule>('chmod chown chgrp setfacl chattr', recursiveRights),
  ...entriesFor<Rule>('mv rename', moveAway),
  ...entriesFor<Rule>('shred truncate tee cp install ln dd rsync', overwrite),
  ...entriesFor<Rule>('systemctl loginctl init telinit', systemPower),
  ...entriesFor<Rule>('fdisk sfdisk gdisk sgdisk cfdisk parted', ({ words }) =>
    words.some(word => /^(?:-l|--list|-p|--print|print|--version|--help)$/.test(word))
      ? null
      : 'changes the partitions of a disk',
  ),
  ...entriesFor<Rule>('cryptsetup hdparm nvme badblocks zpool diskutil', ({ words }) =>
    words.some(word => /format|erase|sanitize|destroy|^-w$/i.test(word)) ? 'erases a disk' : null,
  ),
  ...entriesFor<Rule>('nc ncat netcat nc.traditional nc.openbsd', netcat),
  ...entriesFor<Rule>('socat', ({ words }) =>
    words.some(word => /^(?:exec|system|shell)\b/i.test(word) || /\b(?:EXEC|SYSTEM):/i.test(word))
      ? 'gives another machine a shell'
      : null,
  ),
])

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

const NARROWS =
  /^-(?:i?(?:name|path|wholename|regex)|[amc](?:time|min)|newer\w*|size|empty|user|group|uid|gid|perm|links|inum|samefile|lname|fstype)$/

function findDelete({ args, words, scope, report }: ForbiddenCall): string | null {
  const command = words[words.findIndex(word => /^-(?:exec|ok)(?:dir)?$/.test(word)) + 1] ?? ''
  const deletes = words.includes('-delete') || /(?:^|\/)(?:rm|shred|unlink|mv|dd|truncate)$/.test(command)
  if (!deletes || words.some(word => NARROWS.test(word))) return null
  return treeTarget(
    args.slice(
      0,
      words.findIndex(word => /^-[^HLPDO]/.test(word)),
    ),
    scope,
    report,
    'deletes',
  )
}

function recursiveRights({ args, words, scope, report }: ForbiddenCall): string | null {
  if (!hasFlag(words, /R/, 'recursive')) return null
  return treeTarget(args, scope, report, 'changes the permissions of')
}

function moveAway({ args, words, scope, report }: ForbiddenCall): string | null {
  const target = words.findIndex(word => /^-t|^--target/.test(word)) !== -1
  return treeTarget(target ? args : args.slice(0, -1), scope, report, 'moves away')
}

function overwrite({ program, args, words, scope, report }: ForbiddenCall): string | null {
  const targets =
    program === 'dd' ? words.filter(word => word.startsWith('of=')).map(word => word.slice(3)) : words
  for (const target of program === 'cp' || program === 'rsync' ? targets.slice(-1) : targets) {
    const reason = absolutePaths(target, scope)
      .map(kernelWrite)
      .find(text => text !== null)
    if (reason != null) return reason
  }
  if (program === 'shred') return treeTarget(args, scope, report, 'destroys')
  const deletes = program === 'rsync' && words.some(word => /^--(?:del|remove-source)/.test(word))
  return deletes ? treeTarget(args, scope, report, 'deletes') : null
}

function systemPower({ words }: ForbiddenCall): string | null {
  const power =
    /^(?:[016sS]|poweroff|reboot|halt|kexec|suspend|hibernate|hybrid-sleep|soft-reboot|emergency|rescue|isolate|exit|(?:poweroff|reboot|halt|rescue|emergency|shutdown)\.target)$/
  return words.some(word => power.test(word)) ? 'shuts down or restarts the machine' : null
}

function netcat({ words, scope }: ForbiddenCall): string | null {
  const exec = words.some(word => /^--(?:exec|sh-exec|lua-exec)/.test(word) || /^-[a-zA-Z]*e/.test(word))
  const shell = words.some(
    (word, i) => /^-c$/.test(words[i - 1] ?? '') && /\bsh\b|\/\w*sh$|^\w*sh$|cmd\.exe/.test(word),
  )
  if (exec || shell) return 'gives another machine a shell'
  return scope.piped ? 'sends its input over a raw connection' : null
}

/** Effects that go with a reason, for rules and the audit log. */
export function forbiddenEffects(reason: string): EffectName[] {
  if (reason.startsWith('shuts down')) return ['power']
  if (/disk/.test(reason)) return ['disk-write']
  if (/kernel/.test(reason)) return ['system-change']
  if (/shell|connection/.test(reason)) return ['network', 'remote-shell']
  return reason.startsWith('changes') ? ['changes-permissions'] : ['deletes-files', 'delete-recursive']
}

/** Writing to these paths by a redirect is never allowed. */
export function forbiddenRedirect(path: string, writes: boolean): string | null {
  if (/^\/dev\/(?:tcp|udp)\//.test(path)) return 'opens a raw network connection from the shell'
  if (!writes) return null
  return kernelWrite(path)
}

function kernelWrite(path: string): string | null {
  if (isRawDevice(path)) return 'writes to a disk directly'
  if (/^\/proc\/(?:sysrq-trigger|kcore|sys\/kernel\/(?:panic|sysrq|core_pattern|modprobe))/.test(path))
    return 'makes the kernel stop or run something'
  return null
}
