import type { Chunk, FilePatch } from './parse-patch.ts'

/** The patch as text that `parsePatch` reads as the same. */
export function writePatch(files: readonly FilePatch[]): string {
  return ['*** Begin Patch', ...files.flatMap(toLines), '*** End Patch'].join('\n')
}

function toLines(file: FilePatch): string[] {
  if (file.kind === 'delete') return [`*** Delete File: ${file.path}`]
  if (file.kind === 'add') {
    const lines = file.content.split('\n').slice(0, -1)
    return [`*** Add File: ${file.path}`, ...lines.map(line => `+${line}`)]
  }
  return [
    `*** Update File: ${file.path}`,
    ...(file.moveTo === undefined ? [] : [`*** Move to: ${file.moveTo}`]),
    ...file.chunks.flatMap(toChunkLines),
  ]
}

function toChunkLines({ anchors, old, next, atEnd }: Chunk): string[] {
  return [
    ...(anchors.length === 0 ? ['@@'] : anchors.map(anchor => `@@ ${anchor}`)),
    ...old.map(line => `-${line}`),
    ...next.map(line => `+${line}`),
    ...(atEnd ? ['*** End of File'] : []),
  ]
}
