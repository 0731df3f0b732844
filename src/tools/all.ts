import type { AnyTool } from '../core/tool.ts'
import type { ReadPdf } from '../sandbox/pdf/read-pdf.ts'
import { applyPatch } from './apply-patch.ts'
import { deleteFile } from './delete-file.ts'
import { editFile } from './edit-file.ts'
import { globSearch } from './glob-search.ts'
import { grepSearchTool } from './grep-search.ts'
import { listDirectory } from './list-directory.ts'
import { moveFile } from './move-file.ts'
import { readFileTool } from './read-file.ts'
import type { Ripgrep } from './search/ripgrep.ts'
import { writeFile } from './write-file.ts'

/** The builtin tools that work with files, in the order in which they are shown. */
export const fileTools = (ripgrep: Ripgrep, readPdf?: ReadPdf): readonly AnyTool[] => [
  readFileTool(readPdf),
  writeFile,
  editFile,
  applyPatch,
  globSearch,
  grepSearchTool(ripgrep),
  listDirectory,
  moveFile,
  deleteFile,
]
