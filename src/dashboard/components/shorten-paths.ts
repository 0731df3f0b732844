/** Only where a path begins with the folder: `/home/kim/work/x` holds `/work/` and is somewhere else. */
export function shortenPaths(text: string, folder: string): string {
  const [first = '', ...others] = text.split(`${folder}/`)
  return others.reduce(
    (before, rest) => (NAME_BEFORE.test(before) ? `${before}${folder}/${rest}` : before + rest),
    first,
  )
}

/** What can stand before a slash in the middle of a path. */
const NAME_BEFORE = /[\p{L}\p{M}\p{N}_.~+@%/\\-]$/u
