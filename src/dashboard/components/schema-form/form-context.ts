import { type ComponentType, createContext, useContext } from 'react'
import type { Reference } from '../reference-input.tsx'
import type { Field } from './fields.ts'
import type { Path } from './values.ts'

export interface FormContext {
  /** What is wrong, by JSON Pointer. */
  readonly mistakes: ReadonlyMap<string, string>
  /** Undefined: values are written out, `{{…}}` means nothing. */
  readonly references: readonly Reference[] | undefined
  set(path: Path, value: unknown): void
  /** A text that cannot be read stands at this place: nothing may be saved. */
  setBroken(pointer: string, isBroken: boolean): void
}

const Context = createContext<FormContext>({
  mistakes: new Map(),
  references: undefined,
  set: () => undefined,
  setBroken: () => undefined,
})

export const FormProvider = Context

export function useForm(): FormContext {
  return useContext(Context)
}

export interface FieldProps<F = Field> {
  readonly field: F
  readonly name: string
  readonly path: Path
  readonly value: unknown
  readonly required: boolean
  /** Without a label and a frame of its own: the whole form, or an item that has them already. */
  readonly bare?: boolean
}

/** Fields inside of a field are shown by whoever shows it. */
export type InnerView = { readonly View: ComponentType<FieldProps> }
