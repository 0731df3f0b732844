import type { AnyTool } from '../core/tool.ts'
import { deleteFile } from './delete-file.ts'
import { editFile } from './edit-file.ts'
import { globSearch } from './glob-search.ts'
import { grepSearch } from './grep-search.ts'
import { listDirectory } from './list-directory.ts'
import { moveFile } from './move-file.ts'
import { readFile } from './read-file.ts'
import { writeFile } from './write-file.ts'

/** The builtin tools that work with files, in the order in which they are shown. */
export const fileTools: readonly AnyTool[] = [
  readFile,
  writeFile,
  editFile,
  globSearch,
  grepSearch,
  listDirectory,
  moveFile,
  deleteFile,
]
