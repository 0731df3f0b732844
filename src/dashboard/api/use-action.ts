import { notifications } from '@mantine/notifications'
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { useErrorTitle } from '../components/error-title/error-title.ts'
import { visibleLine } from '../components/untrusted.tsx'
import { type Topic, toShownError } from './api.ts'

export interface ActionOptions<Result> {
  /** What has changed afterwards. */
  readonly topics: readonly Topic[]
  readonly onDone?: (result: Result) => void
  /** A failure is shown in place by whoever asked; otherwise as a notice. */
  readonly quiet?: boolean
}

/** Something that a person sets off. Never repeated by itself. */
export function useAction<Input = void, Result = unknown>(
  act: (input: Input) => Promise<Result>,
  { topics, onDone, quiet = false }: ActionOptions<Result>,
): UseMutationResult<Result, Error, Input> {
  const queries = useQueryClient()
  const titleOf = useErrorTitle()
  return useMutation<Result, Error, Input>({
    mutationFn: act,
    onSuccess: result => {
      for (const topic of topics) void queries.invalidateQueries({ queryKey: [topic] })
      onDone?.(result)
    },
    onError(error) {
      if (quiet) return
      const { code, detail, hint } = toShownError(error)
      const message = visibleLine(hint === null ? detail : `${detail} ${hint}`, 1_000)
      notifications.show({ color: 'red', title: titleOf(code), message })
    },
  })
}
