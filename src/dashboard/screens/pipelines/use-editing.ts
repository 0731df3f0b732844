import { useEffect, useEffectEvent, useState } from 'react'
import { type Editing, useSavedFile } from '../../components/saved/use-saved-file.ts'
import { inAddress } from '../../routes.ts'
import { emptyHistory, type History, redo, remember, undo } from './history.ts'
import type { Definition, Pipeline } from './types.ts'

export interface PipelineEditing extends Editing<Definition> {
  /** `burst` names the field that is typed in: its changes are undone together. */
  edit(next: Definition, burst?: string): void
  undo?: () => void
  redo?: () => void
}

export function pipelinePath(name: string): string {
  return `/api/pipelines/${inAddress(name)}`
}

/** The draft of a pipeline with undo and redo. Inside of a text box both stay the browser's own. */
export function usePipelineEditing(pipeline: Pipeline): PipelineEditing {
  const editing = useSavedFile<Pipeline, Definition>({
    topic: 'pipelines',
    path: pipelinePath(pipeline.name),
    answer: pipeline,
    key: 'definition',
    toFile: ({ hash, text, definition }) => ({ hash, text, content: definition }),
  })
  const [history, setHistory] = useState<History<Definition>>(emptyHistory)
  const { content } = editing
  const step = (how: typeof undo): (() => void) | undefined => {
    const to = content === null ? undefined : how(history, content)
    if (to === undefined) return undefined
    return () => {
      setHistory(to.history)
      editing.change(to.value)
    }
  }
  const back = step(undo)
  const forth = step(redo)
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z' || isWriting(event.target))
      return
    event.preventDefault()
    if (event.shiftKey) forth?.()
    else back?.()
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => onKey(event)
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
  return {
    ...editing,
    edit(next, burst = '') {
      if (content === null || next === content) return
      setHistory(remember(history, content, burst, Date.now()))
      editing.change(next)
    },
    ...(back === undefined ? {} : { undo: back }),
    ...(forth === undefined ? {} : { redo: forth }),
  }
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  )
}
