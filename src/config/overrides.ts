import { parse } from 'smol-toml'
import { checkSource } from './check-source.ts'
import { ConfigError } from './config-error.ts'
import type { EnvironmentOverride } from './environment.ts'
import { splitKey } from './positions.ts'
import type { Source } from './read-source.ts'
import type { Layer } from './rule-schema.ts'
import { emptyTable, setPath } from './tables.ts'

/** `KOGU_LIMITS__MAX_COST=0.5` */
export function fromVariable({ variable, key, value }: EnvironmentOverride): Source {
  return toOverride('environment', variable, key, value)
}

/** `-c limits.max_cost=0.5` */
export function fromFlag(assignment: string): Source {
  const equals = assignment.indexOf('=')
  if (equals === -1) {
    throw new ConfigError(`'${assignment}' is not of the form key=value.`, { file: '--set' })
  }
  const key = assignment.slice(0, equals).trim()
  return toOverride('flag', `--set ${key}`, key, assignment.slice(equals + 1).trim())
}

/** `--mode`, which is short for `--set mode=…` */
export function fromModeFlag(mode: string): Source {
  return { layer: 'flag', file: '--mode', data: emptyTable({ mode }), place: () => ({ file: '--mode' }) }
}

function toOverride(layer: Layer, file: string, key: string, text: string): Source {
  const path = splitKey(key)
  if (path === undefined || path.some(part => UNSAFE.includes(part))) {
    throw new ConfigError(`'${key}' is not the name of a setting.`, { file })
  }
  const make = (value: unknown): Source => {
    const data = emptyTable()
    setPath(data, path, value)
    return { layer, file, data, place: () => ({ file }) }
  }
  const asToml = parseValue(text)
  const plain = make(text)
  if (asToml === undefined) return plain
  const typed = make(asToml.value)
  // `defaults.model=4` and `limits.max_turns=4` look alike; the schema knows which one is text.
  return !checkSource(typed).ok && checkSource(plain).ok ? plain : typed
}

/** Objects are merged later, and these names mean something on every object. */
const UNSAFE = ['__proto__', 'constructor', 'prototype']

/** Undefined when it is not a TOML value, so it is meant as text (`mode=auto`). */
function parseValue(text: string): { value: unknown } | undefined {
  try {
    const data = parse(`value = ${text}`, { unsafeKeyBehaviour: 'throw', maxDepth: 32 })
    // Text with line breaks could bring further keys along.
    return Object.keys(data).length === 1 ? { value: data.value } : undefined
  } catch {
    return undefined
  }
}
