import { Alert, Stack, Tabs, Text, Textarea } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useWords } from '../../i18n/language.tsx'
import type { Reference } from '../reference-input.tsx'
import { visibleLine } from '../untrusted.tsx'
import { FieldView } from './field-view.tsx'
import { isSchema, type Schema, toField } from './fields.ts'
import { type FormContext, FormProvider } from './form-context.ts'
import { MistakeList } from './mistake-list.tsx'
import { mistakesIn, parseJson, printJson, setAt } from './values.ts'
import { words } from './words.ts'

export interface SchemaFormProps {
  readonly schema: unknown
  readonly value: Schema
  readonly onChange: (value: Schema) => void
  /** False while there is text that is no JSON: nothing may be saved then. */
  readonly onValid?: (isValid: boolean) => void
  readonly label?: string
  /** What the server found, by JSON Pointer. */
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[]
  /** What `{{…}}` can stand for. Defaults to no references at all. */
  readonly references?: readonly Reference[]
}

/** A form made from a JSON schema. Form and JSON are two views of one value. */
export function SchemaForm(props: SchemaFormProps) {
  const t = useWords(words)
  const { schema, value, onChange, onValid, errors = NONE, references } = props
  const label = visibleLine(props.label ?? t('form'))
  const [tab, setTab] = useState<string | null>('form')
  // Kept while it cannot be read: what somebody has typed is never replaced by an older value.
  const [draft, setDraft] = useState<string | null>(null)
  const [unread, setUnread] = useState<ReadonlySet<string>>(new Set())
  // A form that nobody has filled in yet is not wrong: what is required is marked, and missed only after a change.
  const [isChanged, setChanged] = useState(false)
  const field = useMemo(() => toField(schema), [schema])
  const parsed = draft === null ? null : parseJson(draft)
  const broken = parsed?.ok === false ? parsed.reason : null
  const context = useMemo((): FormContext => {
    const own = mistakesIn(field, value)
      .filter(({ rule }) => isChanged || rule !== 'required')
      .map(({ pointer, rule, limit = '' }) => [pointer, t(rule, { limit })] as const)
    return {
      mistakes: new Map([...own, ...errors.map(({ pointer, message }) => [pointer, message] as const)]),
      references,
      set(path, next) {
        setChanged(true)
        onChange(toObject(setAt(value, path, next)))
      },
      setBroken(pointer, isBroken) {
        if (unread.has(pointer) === isBroken) return
        const next = new Set(unread)
        if (isBroken) next.add(pointer)
        else next.delete(pointer)
        setUnread(next)
        onValid?.(next.size === 0)
      },
    }
  }, [field, value, errors, references, onChange, onValid, unread, isChanged, t])
  return (
    <Tabs value={tab} onChange={setTab} keepMounted={false} aria-label={label}>
      <Tabs.List mb="sm">
        <Tabs.Tab value="form">{t('form')}</Tabs.Tab>
        <Tabs.Tab value="json">{t('json')}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="form">
        {broken !== null && (
          <Alert color="red" mb="sm" role="alert">
            {t('fixJson')}
          </Alert>
        )}
        <fieldset disabled={broken !== null} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
          <FormProvider value={context}>
            <MistakeList />
            {field.kind === 'object' && field.fields.length === 0 && field.extra === null ? (
              <Text c="dimmed" size="sm">
                {t('none')}
              </Text>
            ) : (
              <Stack gap="md">
                <FieldView field={field} name={label} path={[]} value={value} required bare />
              </Stack>
            )}
          </FormProvider>
        </fieldset>
      </Tabs.Panel>
      <Tabs.Panel value="json">
        <Textarea
          aria-label={`${label} JSON`}
          autosize
          minRows={8}
          maxRows={30}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8125rem' } }}
          spellCheck={false}
          value={draft ?? printJson(value)}
          error={broken === null ? undefined : t('invalidJson', { reason: broken })}
          onChange={event => {
            const text = event.currentTarget.value
            const next = parseJson(text)
            setDraft(text)
            onValid?.(next.ok)
            if (next.ok) onChange(toObject(next.value))
          }}
          onBlur={() => {
            if (broken === null) setDraft(null)
          }}
        />
      </Tabs.Panel>
    </Tabs>
  )
}

const NONE: NonNullable<SchemaFormProps['errors']> = []

function toObject(value: unknown): Schema {
  return isSchema(value) ? value : {}
}
