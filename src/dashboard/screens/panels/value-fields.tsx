import { Textarea } from '@mantine/core'
import { useState } from 'react'

export type Values = Readonly<Record<string, string>>

/** Values for the names in a text, and a field for each of them. */
export function useValueFields(names: readonly string[]) {
  const [values, setValues] = useState<Values>({})
  const fields = names.map(name => (
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
  return { values, fields }
}
