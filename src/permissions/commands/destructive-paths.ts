/** Folders whose loss is the loss of the system, a home or everything around the workspace. */
import type { Arg } from './args.ts'
import { absolutePaths, normalize, type Scope } from './state.ts'
import type { CommandContext } from './types.ts'

const SYSTEM = new Set(
  (
    '/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr ' +
    '/var /usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/local /usr/local/bin /usr/local/lib ' +
    '/usr/local/sbin /usr/share /usr/include /var/lib /var/spool /boot/efi /boot/grub /System /Library /Applications ' +
    '/Users /Volumes /private /private/etc /private/var /nix /nix/store /snap'
  ).split(' '),
)

/** Null, or what the path is, as a noun for the message. */
function protectedName(path: string, context: CommandContext): string | null {
  if (path === '/') return 'the whole file system'
  if (path === context.home || path === '/root' || /^\/(?:home|Users)\/[^/]+$/.test(path))
    return `a home folder (${path})`
  if (isAncestor(path, context.workspace)) return `a folder that contains the workspace (${path})`
  if (isAncestor(path, context.home)) return `a folder that contains a home (${path})`
  return SYSTEM.has(path) ? `a system folder (${path})` : null
}

/** What a command that acts on whole trees would hit, over every text that the argument may become. */
export function protectedTarget(arg: Arg, scope: Scope, context: CommandContext): string | null {
  for (const text of arg.text === null ? arg.worst : [arg.text]) {
    const pattern = arg.text === null && /[*?[]/.test(text)
    for (const path of absolutePaths(text, scope)) {
      const name = pattern ? protectedPattern(path, context) : protectedName(path, context)
      if (name !== null) return name
    }
  }
  return null
}

/** `/*`, `~/.*`: a last part that matches (nearly) everything stands for its folder. */
function protectedPattern(path: string, context: CommandContext): string | null {
  const parts = path.split('/')
  while (parts.length > 1 && /^[.*?]*\*[.*?]*$|^\.\[!?\^?\.?\]\*$/.test(parts.at(-1) ?? '')) {
    parts.pop()
    const name = protectedName(parts.join('/') || '/', context)
    if (name !== null) return name
  }
  return /[*?[]/.test(path) ? null : protectedName(normalize(path), context)
}

function isAncestor(path: string, of: string): boolean {
  return path === '/' || of.startsWith(`${path}/`)
}

const RAW_DEVICE =
  /^\/dev\/(?:[shv]d[a-z]|xvd|nvme|mmcblk|loop|dm-|md\d|disk|r?disk\d|mapper\/|sr\d|mem$|kmem$|port$|nbd|zram|ram\d|mtd|pmem|rbd|drbd|bcache|sg\d|block\/|vg|root$)/

export function isRawDevice(path: string): boolean {
  return RAW_DEVICE.test(path)
}

const PROC_FACTS =
  /^\/proc(?:\/(?:cpuinfo|meminfo|version|uptime|loadavg|stat|mounts|filesystems|partitions|cmdline|swaps|vmstat|diskstats|devices|modules|interrupts|net(?:\/[\w/]+)?|sys(?:\/[\w./-]+)?|(?:self|\d+)(?:\/(?:status|stat|comm|limits|cmdline|cgroup|mounts|io|statm|sched))?))?$/

/** Files that are no files: memory, environments and devices are not read without asking. */
export function specialFile(path: string): string | null {
  if (/^\/proc(?:\/|$)/.test(path) && !PROC_FACTS.test(path))
    return `${path} may show secrets of running programs.`
  if (/^\/sys\/kernel\/(?:debug|tracing)(?:\/|$)/.test(path)) return `${path} is a window into the kernel.`
  // Zeros and random bytes have no end.
  const device = /^\/dev\//.test(path) && !/^\/dev\/(?:null|stdin)$/.test(path)
  return device ? `${path} is a device, not a file.` : null
}

/** The kernel follows a link before it goes up, lexical paths do not: `link/../x` is somewhere else. */
export function goesUpAgain(path: string): boolean {
  return /(?:^|\/)(?!\.\.?(?:\/|$))[^/]+\/+(?:\.\/+)*\.\.(?:\/|$)/.test(path)
}
