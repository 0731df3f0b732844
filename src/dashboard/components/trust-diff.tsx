import { DiffView } from './diff-view.tsx'

interface TrustLine {
  readonly kind: string
  readonly file: string
  readonly text: string
}

/** What trust in a project's files would add to what counts now. */
export function TrustDiff({ lines }: { lines: readonly TrustLine[] }) {
  return <DiffView diff={trustDiff(lines)} />
}

/** Settings that only restrict count without trust, so they are there already. */
export function trustDiff(lines: readonly TrustLine[]): string {
  return [...Map.groupBy(lines, ({ file }) => file)]
    .map(([file, own]) => {
      const kept = own.filter(({ kind }) => kind === 'restrict')
      const added = own.filter(({ kind }) => kind !== 'restrict')
      return [
        ...[`--- ${file}`, `+++ ${file}`, `@@ -1,${kept.length} +1,${own.length} @@`],
        ...kept.map(line => ` ${toLine(line)}`),
        ...added.map(line => `+${toLine(line)}`),
      ].join('\n')
    })
    .join('\n')
}

/** One line, so that no setting can pass for two. */
function toLine({ kind, text }: TrustLine): string {
  return `${kind}: ${text.replaceAll('\n', '\\n')}`
}
