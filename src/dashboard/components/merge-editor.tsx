import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { useWords } from '../i18n/language.tsx'
import { words } from './words.ts'

export interface MergeEditorProps {
  readonly label: string
  /** What it is compared with. */
  readonly before: string
  /** What is in the editor at first. */
  readonly text: string
  readonly onChange: (text: string) => void
}

/** A text with the differences from an earlier one, each of which can be kept or taken back. Loaded when it is first needed. */
export default function MergeEditor({ label, before, text, onChange }: MergeEditorProps) {
  const t = useWords(words)
  const box = useRef<HTMLDivElement>(null)
  const first = useRef({ text, onChange })
  first.current.onChange = onChange
  useEffect(() => {
    if (box.current === null) return
    const view = new EditorView({
      parent: box.current,
      state: EditorState.create({
        doc: first.current.text,
        extensions: [
          lineNumbers(),
          history(),
          // Directions and characters that nobody sees get a shape of their own.
          highlightSpecialChars({
            addSpecialChars: /[\u00a0\u2000-\u200c\u200e\u200f\u202a-\u202f\u2060-\u206f]|\u200d/,
          }),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorState.phrases.of({ Accept: t('keepHunk'), Reject: t('leaveHunk') }),
          unifiedMergeView({
            original: before,
            mergeControls: true,
            collapseUnchanged: { margin: 3, minSize: 6 },
            // Without limits a long line would stop the browser.
            diffConfig: { scanLimit: 500, timeout: 200 },
          }),
          EditorView.updateListener.of(update => {
            if (update.docChanged) first.current.onChange(update.state.doc.toString())
          }),
        ],
      }),
    })
    return () => view.destroy()
  }, [label, before, t])
  return <div ref={box} className="kogu-editor" />
}
