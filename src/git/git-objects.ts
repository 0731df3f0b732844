import { gitParts } from './git-folder.ts'

// Not `info/alternates`, which says where else git looks for objects.
const OBJECTS =
  /^objects(\/([0-9a-f]{2}(\/([0-9a-f]{38}|[0-9a-f]{62}))?|pack(\/.*)?|info(\/(packs|commit-graphs?(\/.*)?))?))?$/i

/**
 * The repository that a path holds contents of: an object, a pack, or a folder of them. They are named after what is in
 * them and nothing uses them but what refers to them, so that one too many does no harm and one too few breaks whatever
 * refers to it. An absolute path; undefined: something else.
 */
export function repositoryOfObject(path: string, exists: (path: string) => boolean): string | undefined {
  if (!/\/objects(\/|$)/i.test(path)) return undefined
  const part = gitParts(path.slice(1), each => exists(`/${each}`)).find(({ own }) => OBJECTS.test(own))
  return part === undefined ? undefined : `/${part.folder}`
}
