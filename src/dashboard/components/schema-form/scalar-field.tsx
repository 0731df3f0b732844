import {
  Button,
  Code,
  Group,
  NativeSelect,
  NumberInput,
  PasswordInput,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useState } from 'react'
import { useWords } from '../../i18n/language.tsx'
import { ReferenceInput } from '../reference-input.tsx'
import { visibleLine } from '../untrusted.tsx'
import { type Field, isScalar } from './fields.ts'
import { type FieldProps, useForm } from './form-context.ts'
import { emptied, isReference, parseJson, printJson, secretDraft, toPointer, typeSecret } from './values.ts'
import { words } from './words.ts'

type Props<F = Field> = FieldProps<F> & { readonly id: string }

/** A field with one control. Emptied, it is not set. */
export function ScalarField(props: Props) {
  const { field, value } = props
  const { references } = useForm()
  if (isReference(value) && field.kind !== 'text') return <TextField {...props} />
  switch (field.kind) {
    case 'text':
      return <TextField {...props} />
    case 'secret':
      return <SecretField {...props} />
    case 'number':
      return references === undefined ? (
        <NumberField {...props} field={field} />
      ) : (
        <TextField {...props} parse={toNumber} />
      )
    case 'boolean':
      return <ChoiceField {...props} options={[true, false]} />
    case 'choice':
      return <ChoiceField {...props} options={field.options} />
    case 'const':
      return <ChoiceField {...props} options={isScalar(field.value) ? [field.value] : []} />
    case 'list':
      return <TagsField {...props} />
    default:
      return <JsonField {...props} />
  }
}

function labelled({ id, field, name, path, bare }: Props, mistakes: ReadonlyMap<string, string>) {
  const hasError = mistakes.has(toPointer(path))
  const about = [
    field.description === undefined || bare ? [] : [`${id}-about`],
    hasError && !bare ? [`${id}-error`] : [],
  ]
  return {
    id,
    'aria-describedby': about.flat().join(' ') || undefined,
    'aria-invalid': hasError || undefined,
    ...(bare === true ? { 'aria-label': visibleLine(name) } : {}),
  }
}

const TYPES = new Map([
  ['uri', 'url'],
  ['email', 'email'],
  ['date', 'date'],
])

function TextField(props: Props & { parse?: (text: string) => unknown }) {
  const t = useWords(words)
  const { set, references, mistakes } = useForm()
  const { field, path, value, required, parse = text => text } = props
  const shown =
    value === undefined || value === null ? '' : isScalar(value) ? String(value) : printJson(value)
  const change = (text: string): void =>
    set(path, text === '' ? emptied(required && field.kind === 'text') : parse(text))
  const common = {
    ...labelled(props, mistakes),
    value: shown,
    placeholder: placeholderOf(field, t),
    error: mistakes.has(toPointer(path)),
  }
  if (references !== undefined)
    return <ReferenceInput {...common} references={references} onChange={change} />
  const type = field.kind === 'text' ? TYPES.get(field.format ?? '') : undefined
  if (type !== undefined)
    return <TextInput {...common} type={type} onChange={event => change(event.currentTarget.value)} />
  return (
    <Textarea
      {...common}
      autosize
      minRows={1}
      maxRows={16}
      onChange={event => change(event.currentTarget.value)}
    />
  )
}

function placeholderOf(
  field: Field,
  t: (key: 'for', values: { value: string }) => string,
): string | undefined {
  const example = field.examples?.[0]
  return example === undefined
    ? undefined
    : t('for', { value: isScalar(example) ? String(example) : printJson(example) })
}

/** A number, or the text as it stands while it is none yet. */
function toNumber(text: string): unknown {
  return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)
}

function NumberField(props: Props<Field & { kind: 'number' }>) {
  const { set, mistakes } = useForm()
  const { field, path, value } = props
  return (
    <NumberInput
      {...labelled(props, mistakes)}
      value={typeof value === 'number' ? value : ''}
      allowDecimal={!field.integer}
      {...(field.step === undefined ? {} : { step: field.step })}
      error={mistakes.has(toPointer(path))}
      onChange={next => set(path, typeof next === 'number' ? next : undefined)}
    />
  )
}

function ChoiceField({ options, ...props }: Props & { options: readonly (string | number | boolean)[] }) {
  const t = useWords(words)
  const { set, mistakes } = useForm()
  const { field, path, value } = props
  const index = options.indexOf(value as never)
  const name = (option: string | number | boolean): string =>
    field.kind === 'boolean' ? t(option === true ? 'yes' : 'no') : visibleLine(String(option), 120)
  const isForeign = value !== undefined && value !== null && index === -1
  return (
    <NativeSelect
      {...labelled(props, mistakes)}
      value={value === null ? 'null' : isForeign ? 'other' : String(index)}
      error={mistakes.has(toPointer(path))}
      onChange={event => {
        const chosen = event.currentTarget.value
        if (chosen !== 'other') set(path, chosen === 'null' ? null : options[Number(chosen)])
      }}
      data={[
        { value: '-1', label: t('notSet') },
        ...(field.nullable ? [{ value: 'null', label: t('isNull') }] : []),
        ...(isForeign ? [{ value: 'other', label: visibleLine(printJson(value), 120) }] : []),
        ...options.map((option, number) => ({ value: String(number), label: name(option) })),
      ]}
    />
  )
}

function TagsField(props: Props) {
  const t = useWords(words)
  const { set, mistakes } = useForm()
  const { path, value } = props
  return (
    <TagsInput
      {...labelled(props, mistakes)}
      value={Array.isArray(value) ? value.map(String) : []}
      placeholder={t('tags')}
      error={mistakes.has(toPointer(path))}
      acceptValueOnBlur
      onChange={next => set(path, next.length === 0 ? undefined : next)}
    />
  )
}

/** Written, never read: what is set is not shown and stays as it is until somebody replaces it. */
function SecretField(props: Props) {
  const t = useWords(words)
  const { set, mistakes } = useForm()
  const { path, value, required } = props
  const [kept, keep] = useState(() => secretDraft(value))
  const draft = secretDraft(value, kept)
  if (!draft.isOpen)
    return (
      <Group gap="sm">
        <Code aria-hidden>••••••••</Code>
        <Text size="sm">{t('secretSet')}</Text>
        <Button size="compact-sm" variant="default" onClick={() => keep({ ...draft, isOpen: true })}>
          {t('replace')}
        </Button>
      </Group>
    )
  return (
    <PasswordInput
      {...labelled(props, mistakes)}
      autoComplete="off"
      value={draft.typed}
      error={mistakes.has(toPointer(path))}
      onChange={event => {
        const next = typeSecret(draft, event.currentTarget.value, required)
        keep(next)
        set(path, next.now)
      }}
    />
  )
}

/** One part of the value as JSON. Text that cannot be read stays in the box and changes nothing. */
export function JsonField(props: Props) {
  const t = useWords(words)
  const { set, setBroken, mistakes } = useForm()
  const { field, path, value } = props
  const [draft, setDraft] = useState<string | null>(null)
  const parsed = draft === null ? null : parseJson(draft)
  const broken = parsed?.ok === false ? t('invalidJson', { reason: parsed.reason }) : undefined
  return (
    <Textarea
      {...labelled(props, mistakes)}
      {...(field.kind === 'json' ? { description: t(field.reason) } : {})}
      autosize
      minRows={1}
      maxRows={16}
      spellCheck={false}
      value={draft ?? printJson(value)}
      error={broken ?? mistakes.get(toPointer(path))}
      onChange={event => {
        const text = event.currentTarget.value
        const next = parseJson(text)
        setDraft(text)
        setBroken(toPointer(path), !next.ok)
        if (next.ok) set(path, next.value)
      }}
      onBlur={() => {
        if (broken === undefined) setDraft(null)
      }}
    />
  )
}
