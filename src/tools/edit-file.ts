import { hash } from 'node:crypto'
import * as z from 'zod'
import { withoutParts } from '../core/diff-parts.ts'
import { ToolError } from '../core/errors.ts'
import { type AccessContext, defineTool, type ToolContext, type ToolOutput } from '../core/tool.ts'
import { summarizeDiff } from '../core/unified-diff.ts'
import { describeChange } from './edit/describe-change.ts'
import { explainRefusal } from './edit/explain.ts'
import { lineNumbers } from './edit/lines.ts'
import { placeholderNote, refusePlaceholders } from './edit/placeholder-guard.ts'
import { applyMatches, applySplices, type Plan, planEdits } from './edit/plan.ts'
import { smallestEdit } from './edit/smallest-edit.ts'
import { type Edit, RUNGS, type Rung } from './edit/types.ts'
import { hardLinkAccess, presentBytes, presentSize, readOnlyNote, restoreReceipt } from './existing-file.ts'
import { filePath, toolPath } from './file-path.ts'
import { explainMissing, missingFile } from './missing-file.ts'
import { undoNote } from './not-undoable.ts'
import { namePath } from './path-failure.ts'
import { resultPath, shownPath } from './result-path.ts'
import { type Knowledge, keepPartialView, knowledgeOf, rememberContent } from './seen-files.ts'

const MOST_BYTES = 64 * 1024 * 1024

const replacement = () => ({
  old_string: z
    .string()
    .describe('Text to replace, copied from the file without line numbers. Must be unique in it.'),
  new_string: z.string().describe('Text to put there.'),
  replace_all: z.boolean().default(false).describe('Replace every occurrence.'),
  expected_replacements: z
    .int()
    .min(1)
    .optional()
    .describe('Replace every occurrence, but only when there are exactly this many.'),
})

const fields = () =>
  z.object({
    path: filePath().describe('File to change: absolute, or relative to the working folder.'),
    ...replacement(),
    old_string: replacement().old_string.optional(),
    new_string: replacement().new_string.optional(),
    edits: z
      .array(z.strictObject(replacement()))
      .min(1)
      .max(500)
      .optional()
      .describe(
        'Several replacements instead of one: all matched against the file as it is now, all or nothing.',
      ),
    dry_run: z.boolean().default(false).describe('Only show the diff.'),
    allow_shrink: z
      .boolean()
      .default(false)
      .describe('Confirms that "…" lines in new_string are meant literally.'),
  })

type Input = z.output<ReturnType<typeof fields>>

/** Checked with the rest of the input, so that nobody is asked about a call that cannot work. */
const input = () =>
  fields().superRefine(({ old_string, new_string, edits }, { addIssue }) => {
    const single = old_string !== undefined || new_string !== undefined
    const problem =
      single && edits !== undefined
        ? "'edits' cannot be given together with 'old_string' or 'new_string'"
        : !single && edits === undefined
          ? "Missing required parameters 'old_string' and 'new_string', or 'edits',"
          : edits === undefined && (old_string === undefined || new_string === undefined)
            ? `Missing required parameter '${old_string === undefined ? 'old_string' : 'new_string'}'`
            : undefined
    if (problem !== undefined) addIssue({ code: 'custom', message: problem })
  })

export const editFile = defineTool({
  name: 'edit_file',
  aliases: ['Edit', 'edit', 'MultiEdit', 'str_replace', 'replace'],
  parameterAliases: {
    file_path: 'path',
    filename: 'path',
    file: 'path',
    filePath: 'path',
    old_str: 'old_string',
    new_str: 'new_string',
    oldText: 'old_string',
    newText: 'new_string',
    oldString: 'old_string',
    newString: 'new_string',
    replaceAll: 'replace_all',
    dryRun: 'dry_run',
  },
  title: 'Edit file',
  description:
    'Replace exact text in a file; nothing outside the matched text changes. Quote enough of the lines around the place to make old_string unique. ' +
    'Line ends need not match; other indentation and trailing space are accepted only in a file that was read with read_file, and are reported. ' +
    'Use edits for several changes of one file, write_file for a new file.',
  category: 'FileSystem',
  risk: 'high',
  input,
  output: {
    path: { type: 'string' },
    replacements: { type: 'integer' },
    dry_run: { type: 'boolean' },
    added: { type: 'integer' },
    removed: { type: 'integer' },
  },
  access({ path, dry_run }, context) {
    const absolute = toolPath(path, context.cwd)
    // A failed edit shows what is in the file, so it is a read as well.
    if (dry_run) return [{ kind: 'file_read', path: absolute }]
    return [
      { kind: 'file_read', path: absolute },
      { kind: 'file_write', path: absolute },
      ...hardLinkAccess(path, context),
    ]
  },
  preview(wanted, context) {
    const change = proposedChange(wanted, context)
    if (change === undefined) return undefined
    return summarizeDiff(change.before, change.after, wanted.path).diff ?? undefined
  },
  leaveOut(wanted, parts, context) {
    const { before = '', after = '' } = proposedChange(wanted, context) ?? {}
    const { diff } = summarizeDiff(before, after, wanted.path)
    const text = withoutParts(after, diff ?? '', parts)
    // Bytes that are no text cannot be quoted.
    if (text === undefined || text === before || before.includes('\uFFFD')) return undefined
    const { path, allow_shrink } = wanted
    return { path, ...smallestEdit(before, text), replace_all: false, dry_run: false, allow_shrink }
  },
  async run(wanted, context) {
    return wanted.dry_run ? preview(wanted, context) : apply(wanted, context)
  },
})

function proposedChange(
  wanted: Input,
  context: AccessContext,
): { before: string; after: string } | undefined {
  const bytes = presentBytes(wanted.path, context)
  if (bytes === undefined) return undefined
  const { splices } = planOrRefuse(bytes, wanted, { knowledge: 'current', shown: wanted.path })
  const decode = (part: Uint8Array): string => new TextDecoder().decode(part)
  return { before: decode(bytes), after: decode(applySplices(bytes, splices)) }
}

function editsOf(wanted: Input): Edit[] {
  const list = wanted.edits ?? [wanted]
  return list.map(edit => ({
    // Both are there: the schema saw to it.
    oldText: edit.old_string ?? '',
    newText: edit.new_string ?? '',
    replaceAll: edit.replace_all,
    expected: edit.expected_replacements,
  }))
}

async function apply(wanted: Input, context: ToolContext): Promise<ToolOutput> {
  const { receipts } = context.files
  // Before all of it is read for the update.
  refuseLarge(
    presentSize(wanted.path, context),
    shownPath(resultPath(context.files.resolve(wanted.path), context)),
  )
  const found: { plan?: Plan; after?: Uint8Array; receipt?: string | undefined; knowledge: Knowledge } = {
    knowledge: 'none',
  }
  let isRead = false
  const update = context.files.update(wanted.path, (before, current) => {
    const shown = shownPath(resultPath(current.path, context))
    isRead = before !== null
    if (before === null) throw new ToolError('not_found', `No such file: ${shown}`)
    found.receipt = receipts.get(current.path)
    found.knowledge = knowledgeOf(current.path, current.sha256, context)
    const seen = context.run.contents.get(current.path)
    found.plan = planOrRefuse(before, wanted, { knowledge: found.knowledge, seen, shown })
    found.after = applySplices(before, found.plan.splices)
    return found.after
  })
  const explain = explainMissing(wanted.path, context, () => missingToEdit(wanted, context))
  const effect = await update
    .catch(error => {
      if (isRead) throw error
      return explain(error)
    })
    .catch(namePath(wanted.path, context))
  const { plan, after, knowledge } = found
  if (plan === undefined || after === undefined)
    throw new Error('The file was written without being asked for.')
  if (knowledge !== 'current') restoreReceipt(receipts, effect.path, found.receipt)
  const sha256 = effect.after?.sha256 ?? null
  if (knowledge === 'partial' && sha256 !== null) keepPartialView(effect.path, sha256, context)
  if (knowledge === 'current' || knowledge === 'partial') rememberContent(context.run, effect.path, after)
  return toOutput(
    plan,
    editsOf(wanted),
    {
      path: effect.path,
      sha256,
      knowledge,
      dryRun: false,
      undoNote: undoNote([effect]),
      readOnlyNote: readOnlyNote(effect),
    },
    context,
  )
}

async function preview(wanted: Input, context: ToolContext): Promise<ToolOutput> {
  const file = await context.files
    .open(wanted.path)
    .catch(explainMissing(wanted.path, context, () => missingToEdit(wanted, context)))
  try {
    const before = await file.read(0, Math.min(file.size, MOST_BYTES + 1))
    const knowledge = knowledgeOf(file.path, hash('sha256', before), context)
    const seen = context.run.contents.get(file.path)
    const shown = shownPath(resultPath(file.path, context))
    const plan = planOrRefuse(before, wanted, { knowledge, seen, shown })
    const sha256 = hash('sha256', applySplices(before, plan.splices))
    return toOutput(
      plan,
      editsOf(wanted),
      { path: file.path, sha256, knowledge, dryRun: true, undoNote: '', readOnlyNote: '' },
      context,
    )
  } finally {
    file.close()
  }
}

/** Other programs create a file by an edit of nothing. */
async function missingToEdit(wanted: Input, context: ToolContext): Promise<ToolError> {
  const error = await missingFile(wanted.path, context)
  if (editsOf(wanted).every(edit => edit.oldText !== '')) return error
  return new ToolError(error.code, error.message, {
    hint: 'edit_file changes files that exist: create this one with write_file.',
  })
}

function refuseLarge(size: number, shown: string): void {
  if (size <= MOST_BYTES) return
  throw new ToolError(
    'failed',
    `${shown} is larger than ${MOST_BYTES / 1024 / 1024} MB, too large to be edited.`,
    { hint: "Change it with run_command, for example sed -i 's/old/new/' file." },
  )
}

interface Known {
  readonly knowledge: Knowledge
  /** The content that the run knows. */
  readonly seen?: Uint8Array | undefined
  /** The path, for messages. */
  readonly shown: string
}

function planOrRefuse(before: Uint8Array, wanted: Input, { knowledge, seen, shown }: Known): Plan {
  refuseLarge(before.length, shown)
  const edits = editsOf(wanted)
  const plan = planEdits(before, edits, { isKnown: knowledge !== 'none' })
  if (plan.ok) {
    if (!wanted.allow_shrink) refusePlaceholders(plan.before, edits, shown)
    return plan
  }
  const error = explainRefusal(plan, edits, shown)
  const isAboutContent = error.code === 'not_found' || error.code === 'conflict'
  if (knowledge !== 'stale' || !isAboutContent) throw error
  throw new ToolError(error.code, `${error.message} ${describeChange(seen, plan.before, shown)}`, {
    hint: 'Read the file again, then repeat the edit with the text as it is now.',
  })
}

interface Done {
  readonly path: string
  readonly sha256: string | null
  readonly knowledge: Knowledge
  readonly dryRun: boolean
  readonly undoNote: string
  readonly readOnlyNote: string
}

function toOutput(plan: Plan, edits: readonly Edit[], done: Done, context: ToolContext): ToolOutput {
  const shown = shownPath(resultPath(done.path, context))
  const after = applyMatches(plan.before, plan.matches)
  const summary = summarizeDiff(plan.before, after, shown)
  const loosest = plan.matches.reduce<Rung>(
    (rung, match) => (RUNGS.indexOf(match.rung) > RUNGS.indexOf(rung) ? match.rung : rung),
    'exact',
  )
  const count = plan.matches.length
  const notes = [
    loosest === 'whitespace' ? 'Matched with other whitespace than quoted: check the diff.' : '',
    done.knowledge === 'stale'
      ? 'The file was changed since it was read; the place was still unique. Read it again before you rely on the rest.'
      : '',
    placeholderNote(edits, plan.before),
    done.readOnlyNote,
  ].filter(note => note !== '')
  const verb = done.dryRun ? 'Would edit' : 'Edited'
  const head = `${verb} ${shown} (${count} ${count === 1 ? 'replacement' : 'replacements'}, +${summary.added} -${summary.removed} lines)${done.undoNote}`
  return {
    text: [head, ...notes, summary.diff ?? '(the diff is too large to show)'].join('\n'),
    data: {
      path: done.path,
      replacements: count,
      dry_run: done.dryRun,
      rung: loosest,
      changed_since_read: done.knowledge === 'stale',
      encoding: plan.format.encoding,
      sha256: done.sha256,
      added: summary.added,
      removed: summary.removed,
      diff: summary.diff,
      matches: plan.matches.slice(0, 100).map(match => ({
        edit: match.edit,
        rung: match.rung,
        ...linesOf(plan.before, match),
      })),
    },
  }
}

function linesOf(
  before: string,
  match: { start: number; end: number },
): { first_line: number; last_line: number } {
  const { first, last } = lineNumbers(before, match)
  return { first_line: first, last_line: last }
}
