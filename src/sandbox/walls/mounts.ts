import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import { isInside, realPathOf } from '../../core/real-path.ts'
import type { ReplacedFolder, SandboxProfile } from '../../core/sandbox.ts'
import { type Passage, relayPrograms } from '../network/network.ts'
import { mountsInside } from './home-layer.ts'

/** What the program sees at one path in the place of the host's root, which is read-only. */
export interface Mount {
  readonly kind: (typeof KINDS)[number]
  readonly path: string
  /** What is shown there, when it is not the path itself. */
  readonly source?: string
  /** Of a temporary one that cannot be changed. */
  readonly access?: SandboxProfile['privateTmpIs']
}

/** Later ones win at the same path. */
const KINDS = [
  'private',
  'temporary',
  'replaced',
  'layered',
  'pinned',
  'readable',
  'writable',
  'protected',
  'hidden',
] as const

/** Nothing of the host's is seen in these. */
const OWN_CONTENT: readonly Mount['kind'][] = ['private', 'temporary', 'replaced']
/** What is hidden is not there, and no socket answers. */
const NEED_NO_COVER: readonly Mount['kind'][] = [...OWN_CONTENT, 'layered']

/** A layer over the workspace, mounted at `merged` in `folder`. */
export interface Overlay {
  workspace: string
  folder: string
}

export interface MountOptions {
  overlay: Overlay | undefined
  passages: readonly Passage[]
  /** Where the home is mounted as commands are to see it, in the place of the real one. */
  layeredHome?: string | undefined
  /** The host's, as real paths. */
  sockets: readonly string[]
}

/** Parents before children. */
export function toMounts(profile: SandboxProfile, options: MountOptions): Mount[] {
  // The layer's own folder too: what is mounted there shows the workspace without any of these walls.
  const hidden = existing([
    ...profile.hidden,
    ...(options.overlay === undefined ? [] : [options.overlay.folder]),
  ])
  const isBeneathHidden = (path: string): boolean => hidden.some(folder => isBeneath(path, folder))
  const shown = toShownMounts(profile, options).filter(({ path }) => !isBeneathHidden(path))
  // What is not to be seen anyway needs no cover, and none of our folders is to hold a place for one.
  const covers = [...hidden, ...options.sockets.filter(path => !isOnOverlay(path, options.overlay))]
    .filter(
      path => !isBeneathHidden(path) && !NEED_NO_COVER.includes(whatIsAt(path, shown)?.kind ?? 'readable'),
    )
    .map((path): Mount => ({ kind: 'hidden', path }))
  return bySpecificity([...shown, ...covers]).map((mount, _index, all) => withoutLinks(mount, all))
}

function toShownMounts(profile: SandboxProfile, options: MountOptions): Mount[] {
  const writable = existing(profile.writable)
  if (writable.includes('/')) {
    throw new ToolError('forbidden', 'A command cannot be given write access to the whole file system.')
  }
  // Outside writable folders everything is read-only already.
  const kept = existing(profile.protected).filter(path => writable.some(root => isBeneath(path, root)))
  const own: Mount[] = [
    { kind: 'private', path: '/run' },
    ...existing(profile.closed ?? []).map((path): Mount => ({ kind: 'private', path })),
    ...existing(['/var/tmp']).map((path): Mount => ({ kind: 'temporary', path })),
    {
      kind: 'temporary',
      path: '/tmp',
      ...(profile.privateTmp === undefined ? {} : { source: profile.privateTmp }),
      ...(profile.privateTmpIs === undefined ? {} : { access: profile.privateTmpIs }),
    },
  ]
  const usual = bySpecificity([
    ...own,
    ...toRelayMounts(options.passages),
    ...existing(profile.readable).map((path): Mount => ({ kind: 'readable', path })),
    ...writable.map((path): Mount => ({ kind: 'writable', path, ...onOverlay(path, options.overlay) })),
    ...kept.map((path): Mount => ({ kind: 'protected', path })),
    // What is changed on a layer is checked again when it is brought over.
    ...(options.overlay === undefined ? pins(kept, writable) : []),
  ])
  const withHome = bySpecificity([...usual, ...toHomeMounts(profile, options, usual)])
  return bySpecificity([
    ...withHome,
    ...(profile.replaced ?? []).flatMap(folder => toReplaced(folder, withHome)),
  ])
}

/** Not where there is none, where it is not seen, or where it belongs to a workspace, which has a layer of its own. */
function toHomeMounts(
  profile: SandboxProfile,
  { layeredHome }: MountOptions,
  usual: readonly Mount[],
): Mount[] {
  const [home] = profile.home === undefined ? [] : existing([profile.home])
  if (home === undefined || home === '/' || layeredHome === undefined) return []
  const seen = whatIsAt(home, usual)
  if (seen !== undefined && (seen.kind !== 'readable' || seen.path === home)) return []
  if (existing(profile.hidden).includes(home)) return []
  return [
    { kind: 'layered', path: home, source: layeredHome },
    ...existing(mountsInside(home)).map((path): Mount => ({ kind: 'readable', path })),
  ]
}

/**
 * What the layer over the home is not to show, also what is missing now and may come. Of a link the name too: the person
 * may put a file in its place.
 */
export function hiddenInLayer(profile: SandboxProfile, mounts: readonly Mount[]): string[] {
  const paths = profile.hidden.flatMap(path => [
    ...placeOf(path),
    ...placeOf(dirname(path)).map(folder => join(folder, basename(path))),
  ])
  return [...new Set(paths)].filter(
    path => existsSync(dirname(path)) && whatIsAt(path, mounts)?.kind === 'layered',
  )
}

/** Where it is missing, nothing can be mounted: the host's folders get no new entries. */
function toReplaced({ path, source }: ReplacedFolder, others: readonly Mount[]): Mount[] {
  const [real] = placeOf(path)
  if (real === undefined) return []
  const canBeMade = NEED_NO_COVER.includes(whatIsAt(real, others)?.kind ?? 'readable')
  if (!canBeMade && lstatSync(real, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return [source === undefined ? { kind: 'temporary', path: real } : { kind: 'replaced', path: real, source }]
}

/** One for each path. */
function bySpecificity(mounts: readonly Mount[]): Mount[] {
  const byPath = new Map<string, Mount>()
  for (const mount of mounts) {
    const other = byPath.get(mount.path)
    if (other === undefined || KINDS.indexOf(other.kind) < KINDS.indexOf(mount.kind))
      byPath.set(mount.path, mount)
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** The deepest mount at or above the path; undefined: the host's root. */
function whatIsAt(path: string, mounts: readonly Mount[]): Mount | undefined {
  return mounts.findLast(mount => isInside(path, mount.path))
}

/**
 * Bubblewrap follows links on the way to where it mounts something. Commands can put links into caches and a shared /tmp
 * at any time, also while another one starts: what has to hold mounts is therefore made anew, in memory.
 */
function withoutLinks(mount: Mount, all: readonly Mount[]): Mount {
  const isOthers = mount.kind === 'replaced' || mount.access === 'shared'
  if (!isOthers || !all.some(({ path }) => isBeneath(path, mount.path))) return mount
  return { kind: 'temporary', path: mount.path }
}

/** What the relay sees, and its own programs: they too may lie in a place that is private to the sandbox. */
function toRelayMounts(passages: readonly Passage[]): Mount[] {
  if (passages.length === 0) return []
  return [
    ...passages.map(
      ({ mount: { path, source, writable } }): Mount => ({
        kind: writable ? 'writable' : 'readable',
        path,
        source,
      }),
    ),
    ...existing(relayPrograms()).map((path): Mount => ({ kind: 'readable', path })),
  ]
}

/** The sockets of what lies below it do not answer on a layer, which has inodes of its own. */
function isOnOverlay(path: string, overlay: Overlay | undefined): boolean {
  return overlay !== undefined && isInside(path, overlay.workspace)
}

function onOverlay(path: string, overlay: Overlay | undefined): { source?: string } {
  if (overlay === undefined || !isInside(path, overlay.workspace)) return {}
  return { source: join(overlay.folder, 'merged', relative(overlay.workspace, path)) }
}

/**
 * A protected file cannot be replaced, but the folder it lies in could be renamed and made anew; a folder that is
 * itself a mount cannot.
 */
function pins(kept: readonly string[], writable: readonly string[]): Mount[] {
  const folders = new Set<string>()
  for (const path of kept) {
    for (
      let folder = dirname(path);
      writable.some(root => isBeneath(folder, root));
      folder = dirname(folder)
    ) {
      folders.add(folder)
    }
  }
  return [...folders].map(path => ({ kind: 'pinned', path }))
}

/** Real paths: a mount on a link would land on its target, or nowhere. What does not exist needs no wall. */
function existing(paths: readonly string[]): string[] {
  return paths.flatMap(path => {
    try {
      return [realpathSync.native(path)]
    } catch {
      return []
    }
  })
}

/** Its real path, or the one that it would have; nothing for links that lead nowhere. */
function placeOf(path: string): string[] {
  try {
    return [realPathOf(path)]
  } catch {
    // A loop, or not for us to look at.
    return []
  }
}

function isBeneath(path: string, folder: string): boolean {
  return path !== folder && isInside(path, folder)
}
