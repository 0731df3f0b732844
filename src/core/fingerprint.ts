import { hash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import type { AnyTool } from './tool.ts'

const known = new WeakMap<AnyTool, Map<string, string>>()

/**
 * Identifies what a tool claims to be: everything that a model or a person reads of it, and who offers it. Grants and
 * audit events carry it, so that a yes to one tool is not a yes to what takes its name later.
 */
export function fingerprintOf(tool: AnyTool, provider: string): string {
  const made = known.get(tool) ?? new Map<string, string>()
  known.set(tool, made)
  const found = made.get(provider)
  if (found !== undefined) return found
  const fingerprint = tool.isPartOfKogu === true ? `kogu:${tool.name}` : hashOf(tool, provider)
  made.set(provider, fingerprint)
  return fingerprint
}

function hashOf(tool: AnyTool, provider: string): string {
  const { name, title, description, category, risk, overrides = null } = tool
  const schemas = [tool.input.json, tool.output?.json ?? null]
  const claims = [provider, name, title, description, category, risk, overrides, schemas]
  return hash('sha256', canonicalJson(claims)).slice(0, 32)
}
