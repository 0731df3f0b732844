import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Raise it when the shape of the tree changes: an old tree is made anew.
const VERSION = 1
const FILES_PER_FOLDER = 40
const FOLDERS_PER_AREA = 50

/** A word that about one file in a hundred holds. */
export const RARE_WORD = 'needleInHay'

/** Source files as in a repository, with ignore files and what they ignore. Made once and kept for the next run. */
export function sampleTree(files: number): string {
  const root = join(tmpdir(), `kogu-bench-tree-${files}`)
  const complete = `${root}.complete-${VERSION}`
  if (existsSync(complete) && existsSync(root)) return root
  rmSync(root, { recursive: true, force: true })
  mkdirSync(join(root, '.git'), { recursive: true })
  writeFileSync(join(root, '.gitignore'), '*.log\nnode_modules/\n/build\n')
  for (let folder = 0; folder * FILES_PER_FOLDER < files; folder += 1) makeFolder(root, folder)
  writeFileSync(complete, '')
  return root
}

function makeFolder(root: string, number: number): void {
  const area = join(root, `area-${Math.floor(number / FOLDERS_PER_AREA)}`)
  const folder = join(area, `part-${number % FOLDERS_PER_AREA}`)
  mkdirSync(folder, { recursive: true })
  if (number % FOLDERS_PER_AREA === 0) {
    writeFileSync(join(area, '.gitignore'), 'generated-*\n!generated-keep.ts\n')
    mkdirSync(join(area, 'node_modules'))
    writeFileSync(join(area, 'node_modules', 'ignored.js'), `${RARE_WORD}\n`)
  }
  for (let file = 0; file < FILES_PER_FOLDER; file += 1) makeFile(folder, number, file)
  writeFileSync(join(folder, 'debug.log'), `${RARE_WORD}\n`)
}

function makeFile(folder: string, number: number, file: number): void {
  const path = join(
    folder,
    `${file % 10 === 0 ? 'notes' : 'module'}-${file}.${file % 10 === 0 ? 'md' : 'ts'}`,
  )
  const seed = number * FILES_PER_FOLDER + file
  const lines = Array.from(
    { length: 8 + (seed % 17) },
    (_, line) => `const value${line} = compute(${seed}, ${line})`,
  )
  if (seed % 100 === 7) lines.push(`export const ${RARE_WORD} = ${seed}`)
  writeFileSync(path, `${lines.join('\n')}\n`)
  // Times that do not follow the order of the folders, so that sorting has something to do.
  const seconds = 1_700_000_000 + ((seed * 7919) % 1_000_003)
  utimesSync(path, seconds, seconds)
}
