import { Fieldset, Select, Stack } from '@mantine/core'
import { useState } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { Untrusted } from '../untrusted.tsx'
import { words } from '../words.ts'
import { startOf } from './object-field.tsx'
import { isSchema, type Schema } from './read-schema.ts'
import type { SchemaFieldProps } from './schema-field.tsx'

interface Option {
  readonly label: string
  readonly schema: Schema
}

/** One of several shapes; which one is found by what tells them apart, or chosen. */
export function OptionsField(props: SchemaFieldProps & { options: readonly Option[]; label: string }) {
  const t = useWords(words)
  const { options, label, value, onChange } = props
  const [chosen, choose] = useState(() =>
    String(
      Math.max(
        0,
        options.findIndex(({ schema }) => fits(schema, value)),
      ),
    ),
  )
  const option = options[Number(chosen)]
  return (
    <Fieldset legend={<Untrusted text={label} />}>
      <Stack gap="sm">
        <Select
          label={t('option')}
          data={options.map((each, index) => ({ value: String(index), label: each.label }))}
          value={chosen}
          allowDeselect={false}
          onChange={next => {
            choose(next ?? '0')
            onChange(withConstants(options[Number(next)]?.schema))
          }}
        />
        {option !== undefined &&
          props.context.render({ ...props, schema: option.schema, name: option.label })}
      </Stack>
    </Fieldset>
  )
}

function fits(schema: Schema, value: unknown): boolean {
  if (!isSchema(value)) return schema.type === (Array.isArray(value) ? 'array' : typeof value)
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : []
  const tags = properties.filter(([, each]) => isSchema(each) && 'const' in each)
  return tags.length > 0
    ? tags.every(([name, each]) => isSchema(each) && value[name] === each.const)
    : Object.keys(value).every(name => properties.some(([known]) => known === name))
}

function withConstants(schema: Schema | undefined): unknown {
  if (schema?.type !== 'object' || !isSchema(schema.properties)) return startOf(schema)
  const constants = Object.entries(schema.properties).flatMap(([name, each]) =>
    isSchema(each) && 'const' in each ? [[name, each.const] as const] : [],
  )
  return Object.fromEntries(constants)
}
