import { notifications } from '@mantine/notifications'
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
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
  return useMutation<Result, Error, Input>({
    mutationFn: act,
    onSuccess: result => {
      for (const topic of topics) void queries.invalidateQueries({ queryKey: [topic] })
      onDone?.(result)
    },
    onError(error) {
      if (quiet) return
      const { title, detail, hint } = toShownError(error)
      notifications.show({ color: 'red', title, message: hint === null ? detail : `${detail} ${hint}` })
    },
  })
}
