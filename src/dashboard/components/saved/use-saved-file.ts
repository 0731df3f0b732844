import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { request, type Topic, toShownError } from '../../api/api.ts'
import { useAction } from '../../api/use-action.ts'

/** A panel or a pipeline as the server has it. */
interface SavedFile<Content> {
  readonly hash: string
  readonly text: string
  readonly content: Content | null
}

export interface SavedFileOptions<Answer, Content> {
  readonly topic: Topic
  readonly path: string
  readonly answer: Answer
  readonly toFile: (answer: Answer) => SavedFile<Content>
  /** Under which name the routes take the content as JSON. */
  readonly key: 'settings' | 'definition'
}

export interface Editing<Content> {
  /** What the form shows. Null: the text cannot be read. */
  readonly content: Content | null
  /** What would be in the file. */
  readonly text: string
  readonly isDirty: boolean
  /** The file was changed elsewhere since this began. */
  readonly isStale: boolean
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
  /** Saved from the form, a file is written anew. */
  readonly losesComments: boolean
  readonly isSaving: boolean
  readonly error: unknown
  change(content: Content): void
  changeText(text: string): void
  discard(): void
  overwrite(): void
  /** True once it is saved. */
  save(): Promise<boolean>
}

interface Draft<Content> {
  readonly content?: Content
  /** The text is what counts while it is edited: comments stay. */
  readonly text?: string
}

interface Checked {
  readonly errors?: readonly string[]
  readonly problems?: readonly string[]
  readonly warnings?: readonly string[]
  readonly text: string
  readonly settings?: unknown
  readonly definition?: unknown
}

const CHECK_AFTER_MS = 300

/** A file that is edited as a form and as text: two views of one draft, checked by the server while it changes. */
export function useSavedFile<Answer, Content>(options: SavedFileOptions<Answer, Content>): Editing<Content> {
  const { topic, path, answer, toFile, key } = options
  const server = toFile(answer)
  const [base, setBase] = useState(server)
  const [draft, setDraft] = useState<Draft<Content> | null>(null)
  const isDirty =
    draft !== null &&
    (draft.text === undefined
      ? JSON.stringify(draft.content) !== JSON.stringify(base.content)
      : draft.text !== base.text)
  useEffect(() => {
    if (!isDirty && server.hash !== base.hash) {
      setBase(server)
      setDraft(null)
    }
  }, [isDirty, server, base.hash])
  const given = draft === null ? { text: base.text } : toBody(draft, key)
  const checked = useChecked(topic, path, given)
  const fromText = checked?.[key]
  const content =
    draft?.text === undefined
      ? (draft?.content ?? base.content)
      : // What the server read out of this very text; its own routes say what that is.
        ((fromText ?? null) as Content | null)
  const put = async (sent: Draft<Content> | null) => {
    const saved = await request<Answer>('PUT', path, { ...given, base: base.hash })
    return { saved, sent }
  }
  const saving = useAction(put, {
    topics: [topic],
    quiet: true,
    onDone({ saved, sent }) {
      setBase(toFile(saved))
      // What was typed while it was being saved stays.
      setDraft(now => (now === sent ? null : now))
    },
  })
  return {
    content,
    text: draft === null ? base.text : (draft.text ?? checked?.text ?? base.text),
    isDirty,
    isStale: server.hash !== base.hash || isConflict(saving.error),
    problems: checked?.errors ?? checked?.problems ?? [],
    warnings: checked?.warnings ?? [],
    losesComments: isDirty && draft?.content !== undefined && /^\s*#/m.test(base.text),
    isSaving: saving.isPending,
    error: isConflict(saving.error) ? null : saving.error,
    // Undone to what is saved, it is what is saved, to the last byte.
    change: next =>
      setDraft(JSON.stringify(next) === JSON.stringify(base.content) ? null : { content: next }),
    changeText: text => setDraft({ text }),
    discard() {
      saving.reset()
      setBase(server)
      setDraft(null)
    },
    overwrite() {
      saving.reset()
      setBase({ ...base, hash: server.hash })
    },
    save: () =>
      saving.mutateAsync(draft).then(
        () => true,
        () => false,
      ),
  }
}

function toBody<Content>(draft: Draft<Content>, key: string): Record<string, unknown> {
  return draft.text === undefined ? { [key]: draft.content } : { text: draft.text }
}

function isConflict(error: unknown): boolean {
  return error !== null && toShownError(error).status === 409
}

function useChecked(topic: Topic, path: string, given: Record<string, unknown>): Checked | undefined {
  const wanted = JSON.stringify(given)
  const [settled, settle] = useState(wanted)
  useEffect(() => {
    const timer = setTimeout(() => settle(wanted), CHECK_AFTER_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  return useQuery({
    queryKey: [topic, `${path}/check`, settled],
    queryFn: () => request<Checked>('POST', `${path}/check`, JSON.parse(settled)),
    placeholderData: keepPreviousData,
  }).data
}
