import { Textarea } from '@mantine/core'
import { type Dispatch, type SetStateAction, useState } from 'react'

type Values = Readonly<Record<string, string>>

/** Values for the names in a text. Held by whoever outlives the tabs in which they are typed. */
export type Given = readonly [Values, Dispatch<SetStateAction<Values>>]

export function useGiven(): Given {
  return useState<Values>({})
}

/** A field for each name. */
export function ValueFields({
  names,
  given: [values, setValues],
}: {
  names: readonly string[]
  given: Given
}) {
  return names.map(name => (
    <Textarea
      key={name}
      label={name}
      autosize
      minRows={1}
      maxRows={8}
      value={Object.hasOwn(values, name) ? values[name] : ''}
      onChange={event => {
        const { value } = event.currentTarget
        setValues(before => ({ ...before, [name]: value }))
      }}
    />
  ))
}
