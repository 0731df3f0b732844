/** `find . -type f -exec grep -l X {} +`: safe when the inner program only reads the files that find hands to it. */
import { type Arg, literalArg } from '../args.ts'
import { endlessReason } from './endless.ts'
import { judgeReader } from './judge-reader.ts'
import { type ReaderVerdict, readFind } from './special.ts'

const INNER = /^(?:cat|head|tail|wc|[ef]?grep|ls|stat|file|md5sum|sha1sum|sha256sum|basename|dirname|echo)$/
/** With these a link may be followed, or `-type f` need not hold. */
const UNSURE = /^(?:-[HL]|-follow|-o|-or|,|!|-not|\(|-ok|-okdir|-execdir|-exec)$/
/** Stands for any file: names that find prints begin with the folder it was given, so they are never options. */
const ANY_FILE = './any-file'

/** Null: it has no such action, or not one that is certain. */
export function readFindExec(args: Arg[]): Extract<ReaderVerdict, { ok: true }> | null {
  const at = args.findIndex(arg => arg.text === '-exec')
  const end = args.findIndex((arg, i) => i > at && (arg.text === ';' || arg.text === '+'))
  if (at === -1 || end !== args.length - 1) return null
  const tests = args.slice(0, at)
  // A link is no file of type f; without that test `cat` would follow it to anywhere.
  const onlyFiles = tests.some((arg, i) => arg.text === '-type' && tests[i + 1]?.text === 'f')
  if (!onlyFiles || tests.some(arg => UNSURE.test(arg.text ?? ''))) return null
  const [program, ...words] = args.slice(at + 1, end)
  const fixed = words.slice(0, -1)
  if (!INNER.test(program?.text ?? '') || words.at(-1)?.text !== '{}') return null
  if (fixed.some(arg => arg.text === null || arg.text.includes('{}'))) return null
  const found = readFind(tests)
  const inner = judgeReader(program?.text ?? '', [...fixed, literalArg(ANY_FILE)])
  if (!found.ok || !inner?.ok || inner.cwd !== 'no' || inner.reads.some(read => read.tree)) return null
  if (endlessReason(program?.text ?? '', fixed, null) !== null) return null
  return {
    ok: true,
    reads: [
      ...found.reads.map(read => ({ ...read, content: read.tree })),
      ...inner.reads.filter(read => read.arg.text !== ANY_FILE),
    ],
    cwd: found.cwd === 'tree-names' ? 'tree-content' : found.cwd,
  }
}
