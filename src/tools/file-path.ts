import * as z from 'zod'

/** The path of a file to be written. A folder is refused before anybody is asked about it. */
export function filePath() {
  return z
    .string()
    .min(1)
    .refine(
      path => !/^\.{1,2}$|\/\.{0,2}$/.test(path),
      'must name a file; a slash or dot at the end names a folder,',
    )
}
