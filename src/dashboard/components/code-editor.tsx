import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorState, type Extension } from '@codemirror/state'
import { Decoration, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'

export interface CodeEditorProps {
  readonly label: string
  readonly text: string
  /** Without it, the code is only read. */
  readonly onChange?: (text: string) => void
  /** Shown and marked, from 1. */
  readonly line?: number
}

/** JavaScript with colours and line numbers. Loaded when it is first needed. */
export default function CodeEditor({ label, text, onChange, line }: CodeEditorProps) {
  const box = useRef<HTMLDivElement>(null)
  const first = useRef({ text, onChange })
  first.current.onChange = onChange
  const isReadOnly = onChange === undefined
  const shown = isReadOnly ? text : undefined
  useEffect(() => {
    if (box.current === null) return
    const state = EditorState.create({
      doc: shown ?? first.current.text,
      extensions: [
        LOOK,
        line === undefined ? [] : marks(line),
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.updateListener.of(update => {
          if (update.docChanged) first.current.onChange?.(update.state.doc.toString())
        }),
      ],
    })
    const view = new EditorView({ parent: box.current, state })
    if (line !== undefined && line >= 1 && line <= state.doc.lines)
      view.dispatch({ effects: EditorView.scrollIntoView(state.doc.line(line).from, { y: 'center' }) })
    return () => view.destroy()
  }, [label, shown, isReadOnly, line])
  return <div ref={box} className="kogu-editor" />
}

function marks(line: number): Extension {
  return EditorView.decorations.of(({ state: { doc } }) =>
    line >= 1 && line <= doc.lines ? Decoration.set([MARK.range(doc.line(line).from)]) : Decoration.none,
  )
}

const MARK = Decoration.line({ class: 'kogu-marked-line' })

const colour = (name: string): string => `var(--mantine-color-${name}-light-color)`

const LOOK: Extension = [
  lineNumbers(),
  history(),
  keymap.of([...defaultKeymap, ...historyKeymap]),
  // Directions and characters that nobody sees get a shape of their own.
  highlightSpecialChars({
    addSpecialChars:
      /[\u00a0\u2000-\u200c\u200e\u200f\u2028-\u202f\u2060-\u206f]|\u200d|[\ufe00-\ufe0f]|[\u{e0000}-\u{e01ef}]/gu,
  }),
  javascript(),
  EditorView.lineWrapping,
  syntaxHighlighting(
    HighlightStyle.define([
      {
        tag: [tags.keyword, tags.operatorKeyword, tags.modifier],
        color: colour('indigo'),
        fontWeight: '600',
      },
      { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: colour('green') },
      { tag: [tags.number, tags.bool, tags.null], color: colour('orange') },
      { tag: tags.comment, color: 'var(--mantine-color-dimmed)' },
    ]),
  ),
]
