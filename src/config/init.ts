import { lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSystemError, ToolError } from '../core/errors.ts'
import { writeWhole } from '../core/write-whole.ts'
import { configJsonSchema } from './json-schema.ts'

export interface Initialized {
  /** Relative to the workspace. */
  readonly path: string
  readonly status: 'created' | 'kept'
}

/** Writes what `kogu init` writes; what is there already stays as it is. */
export function initWorkspace(root: string): Initialized[] {
  return [
    ...createStateFolder(root),
    writeNew(root, '.kogu/config.toml', CONFIG),
    writeNew(root, '.kogu/schema.json', `${JSON.stringify(configJsonSchema('draft-04'), null, 2)}\n`),
  ]
}

/** `.kogu`, private to the person, with a `.gitignore` so that logs and old file contents are never committed. */
export function createStateFolder(root: string): Initialized[] {
  const folder = join(root, '.kogu')
  let status: Initialized['status'] = 'created'
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error
    status = 'kept'
  }
  // A repository could bring a link here that leads Kogu's own files to somewhere else.
  if (!lstatSync(folder).isDirectory()) {
    throw new ToolError('conflict', `${folder} is not a folder.`, {
      hint: 'Remove it and run the command again.',
    })
  }
  return [{ path: '.kogu/', status }, keepIgnored(root)]
}

/** A repository that brings its own `.gitignore` must not have our state in the next `git add`: old contents, questions. */
function keepIgnored(root: string): Initialized {
  const path = '.kogu/.gitignore'
  const file = join(root, path)
  const there = lstatSync(file, { throwIfNoEntry: false })
  if (there === undefined) return writeNew(root, path, GITIGNORE)
  // Git does not follow a link in its place.
  const text = there.isFile() ? readFileSync(file, 'utf8') : ''
  if (text.endsWith(OLD_GITIGNORE)) {
    writeWhole(file, `${text.slice(0, -OLD_GITIGNORE.length)}${GITIGNORE}`)
    return { path, status: 'created' }
  }
  if (hidesState(text)) return { path, status: 'kept' }
  writeWhole(file, `${text.trimEnd()}\n${GITIGNORE}`.trimStart())
  return { path, status: 'created' }
}

/** Everything, but for names that are none of ours. Of several lines that match, the last one counts. */
function hidesState(text: string): boolean {
  const lines = text.split('\n').map(line => line.trimEnd())
  const all = lines.lastIndexOf('*')
  const shown = lines.slice(all + 1).filter(line => line.startsWith('!'))
  return all >= 0 && shown.every(line => SHARED.test(line))
}

/** A plain name or a path of such, or the files of one folder; it begins with none of the folders that Kogu fills. */
const SHARED =
  /^!\/?(?!(?:audit|undo|locks|runs|approvals|output|overlays|tmp|background|tools|foreign)\b)[\w.-][\w./-]*(?:\/\*(?:\.\w+)?)?$/i

function writeNew(root: string, path: string, text: string): Initialized {
  try {
    writeFileSync(join(root, path), text, { flag: 'wx', mode: 0o600 })
    return { path, status: 'created' }
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return { path, status: 'kept' }
    throw error
  }
}

// Also this file itself, so that a call in a clean repository leaves it clean; Kogu writes it wherever it is missing.
const OLD_GITIGNORE = `# Written by Kogu. Only what the project shares is committed.
*
!config.toml
!schema.json
`
const GITIGNORE = `${OLD_GITIGNORE}!panels/
!panels/*.toml
!pipelines/
!pipelines/*.toml
!rehearsals/
!rehearsals/*.toml
!scripts/
!scripts/*
`

const CONFIG = `#:schema ./schema.json
version = 1

# Kogu settings of this project. Each person reviews settings that allow more with: kogu config trust
# Check the file with: kogu config validate        All settings: kogu config list

# mode = "ask"                       # ask | accept-edits | read-only | auto

# [[permissions.rules]]
# id = "git-read"
# decision = "allow"                 # allow | ask | deny; the strictest match wins
# tool = "run_command"
# command = ["git", ["status", "diff", "log", "show"], "**"]

# [[permissions.rules]]
# id = "no-secrets"
# decision = "deny"
# tool = "read_file"                 # stops every way to read these files
# path = ["secrets/**"]
# reason = "Only the deployment reads these"

# [tools.custom.list_branches]
# description = "List git branches"
# command = "git branch --list {pattern}"
# risk_level = "low"
# [tools.custom.list_branches.parameters.pattern]
# type = "string"
# description = "Only branches that match"
`
