import type { SafetyKind } from './analysis/kinds.ts'
import { CodeError, type ParsedCode, parseCode, toScript } from './analysis/parse-code.ts'
import { assessQuality } from './analysis/quality.ts'
import { analyzeSafety, type SafetyOptions } from './analysis/safety.ts'
import { toolKind } from './analysis/safety-names.ts'
import { recommendations } from './catalogue/layouts.ts'
import {
  type Capabilities,
  type DynamicTool,
  type Example,
  isServerTool,
  NO_CAPABILITIES,
  TOOL_NAME,
  type ToolParameterDefinition,
  toolId,
} from './definition.ts'
import { toSchema } from './parameters.ts'
import type { DynamicParts } from './parts.ts'
import { refusal } from './refusal.ts'

/** What `create_tool`, `edit` and `import` give. */
export interface NewTool {
  readonly name: string
  readonly description: string
  readonly code: string
  readonly parameters: readonly ToolParameterDefinition[]
  readonly tags: readonly string[]
  readonly generatedFrom?: string
  readonly capabilities?: Capabilities
  readonly examples?: readonly Example[]
  readonly createdBy: string
  readonly createdIn?: string
}

const RESERVED = [
  ...['create_tool', 'run_dynamic_tool', 'list_dynamic_tools', 'delete_dynamic_tool', 'tool_reflection'],
  ...['bash', 'read', 'write', 'edit', 'question'],
]

/**
 * Name → duplicates → limit → code → safety → quality → id. Nothing is saved here. `replaces`: the tool that this is a
 * new version of.
 */
export async function buildTool(
  wanted: NewTool,
  parts: DynamicParts,
  replaces?: DynamicTool,
): Promise<DynamicTool> {
  const { texts, settings } = parts
  await checkName(wanted.name, parts, replaces)
  if (JSON.stringify(wanted).length > MOST_DEFINITION)
    throw refusal(parts, texts.errors.invalidCode(`more than ${MOST_DEFINITION} characters in all`))
  if (wanted.description.trim() === '') throw refusal(parts, texts.errors.descriptionRequired)
  checkParameters(wanted.parameters, parts)
  const capabilities = wanted.capabilities ?? NO_CAPABILITIES
  const noHost = capabilities.network.find(host => !HOST.test(host))
  if (noHost !== undefined) throw refusal(parts, texts.errors.invalidParameter('network', noHost))
  const { script, safety, quality } = await analyze(wanted.code, parts, {
    allowed: allowedKinds(capabilities),
    strict: settings.strict,
  })
  const id = toolId(wanted.name, wanted.code)
  if (safety.blockedOperations.length > 0) {
    const lines = safety.issues.map(
      ({ type, severity, what, line }) =>
        `- ${texts.safety[type].issue}: ${what} (${line}) [${type}, ${severity}]`,
    )
    const { issues } = safety
    parts.note('verification.fail', { toolId: id, toolName: wanted.name, success: false, issues })
    const data = { safety: { ...safety, recommendations: recommendations(safety, texts) } }
    throw refusal(parts, [texts.errors.critical, ...lines].join('\n'), { remedy: 'critical', data })
  }
  const now = parts.now().toISOString()
  return {
    id,
    name: wanted.name,
    description: wanted.description,
    mode: 'function',
    parameters: wanted.parameters,
    code: wanted.code,
    script,
    capabilities,
    examples: wanted.examples ?? [],
    safety,
    quality,
    version: (replaces?.version ?? 0) + 1,
    createdAt: replaces?.createdAt ?? now,
    updatedAt: now,
    createdFromTask: wanted.generatedFrom ?? texts.manual,
    createdBy: wanted.createdBy,
    ...(wanted.createdIn === undefined ? {} : { createdIn: wanted.createdIn }),
    tags: wanted.tags,
    previous:
      replaces === undefined ? [] : [...replaces.previous, toOldVersion(replaces)].slice(-MOST_VERSIONS),
    usageCount: replaces?.usageCount ?? 0,
    ...(replaces?.lastUsedAt === undefined ? {} : { lastUsedAt: replaces.lastUsedAt }),
    confidenceScore: Math.min(safety.score, quality.score),
    verificationStatus: safety.isSafe ? 'passed' : 'unverified',
    runs: [],
    // Another version is no reason to let it run again.
    ...(replaces?.quarantined === undefined ? {} : { quarantined: replaces.quarantined }),
  }
}

const MOST_VERSIONS = 20
/** `*.` would be every host that is written with a dot at its end. */
const HOST = /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$/i
/** Of everything that was given, as JSON. */
const MOST_DEFINITION = 512 * 1024

function toOldVersion({ version, id, code, description, updatedAt, safety, quality }: DynamicTool) {
  return { version, id, code, description, updatedAt, safetyScore: safety.score, qualityScore: quality.score }
}

/** Kinds that declared capabilities cover, so that the analysis does not count them. */
function allowedKinds({ network, tools }: Capabilities): SafetyKind[] {
  const kinds = tools.map(tool => toolKind(tool)?.type).filter(kind => kind !== undefined)
  return [...new Set<SafetyKind>([...(network.length > 0 ? (['network-access'] as const) : []), ...kinds])]
}

async function checkName(
  name: string,
  parts: DynamicParts,
  replaces: DynamicTool | undefined,
): Promise<void> {
  const { errors } = parts.texts
  if (name.trim() === '') throw refusal(parts, errors.nameRequired, { remedy: 'nameRequired' })
  if (name.length > 64) throw refusal(parts, errors.nameLength, { remedy: 'nameFormat' })
  if (!TOOL_NAME.test(name)) throw refusal(parts, errors.nameFormat, { remedy: 'nameFormat' })
  if (RESERVED.includes(name.toLowerCase()) || isServerTool(name))
    throw refusal(parts, errors.nameReserved(name), { remedy: 'nameReserved' })
  const stored = parts.store.list().map(({ tool }) => tool)
  // `read-file` is as good as `read_file` to whoever reads a question.
  const same = stored.find(tool => plain(tool.name) === plain(name))
  if (same !== undefined && same.id !== replaces?.id)
    throw refusal(parts, errors.duplicate(same.name, same.id), { code: 'conflict', remedy: 'duplicate' })
  if (same === undefined && (await parts.takenNames()).map(plain).includes(plain(name)))
    throw refusal(parts, errors.nameReserved(name), { remedy: 'nameReserved' })
  if (replaces === undefined && stored.length >= parts.settings.maxTools)
    throw refusal(parts, errors.tooMany(parts.settings.maxTools), { code: 'failed', remedy: 'tooMany' })
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '')
}

function checkParameters(parameters: readonly ToolParameterDefinition[], parts: DynamicParts): void {
  const { errors } = parts.texts
  for (const parameter of parameters) {
    const { name, type, minimum, maximum } = parameter
    if (!/^[A-Za-z_$][\w$-]{0,63}$/.test(name) || name === '__proto__')
      throw refusal(parts, errors.invalidParameter(name, errors.parameterName), {
        remedy: 'parameterName',
      })
    if (type !== 'number' && (minimum !== undefined || maximum !== undefined))
      throw refusal(parts, errors.invalidParameter(name, 'minimum, maximum'))
    if (minimum !== undefined && maximum !== undefined && minimum > maximum)
      throw refusal(parts, errors.invalidParameter(name, 'minimum > maximum'))
    const unusable = findUnusable(parameter)
    if (unusable !== undefined) throw refusal(parts, errors.invalidParameter(name, unusable))
  }
}

/** What would fail at every run: a default or an allowed value that the definition itself refuses. */
function findUnusable(parameter: ToolParameterDefinition): string | undefined {
  const { name, allowedValues = [] } = parameter
  try {
    const schema = toSchema([{ ...parameter, required: false }])
    if (!schema.parse({}).ok) return 'default'
    return allowedValues.every(value => schema.parse({ [name]: value }).ok) ? undefined : 'enum'
  } catch (error) {
    return (error as Error).message // of the schema's compiler
  }
}

async function analyze(code: string, parts: DynamicParts, options: SafetyOptions) {
  const { errors } = parts.texts
  try {
    const parsed = await parseCode(code)
    const safety = analyzeSafety(parsed, options)
    // The safety analysis says more about an import than that it cannot be.
    const isBlocked = safety.blockedOperations.length > 0
    if (!isBlocked && !definesExecute(parsed)) throw refusal(parts, errors.noExecute)
    return { safety, quality: assessQuality(parsed), script: isBlocked ? '' : toScript(parsed) }
  } catch (error) {
    // A tree that is deeper than the stack is as unreadable as one that does not parse.
    if (error instanceof CodeError || error instanceof RangeError)
      throw refusal(parts, errors.invalidCode(error.message))
    throw error
  }
}

function definesExecute({ program }: ParsedCode): boolean {
  return program.body.some(node => {
    if (node.type === 'ExportDefaultDeclaration') return true
    const declaration = node.type === 'ExportNamedDeclaration' ? node.declaration : node
    if (declaration?.type === 'FunctionDeclaration') return declaration.id?.name === 'execute'
    if (declaration?.type !== 'VariableDeclaration') return false
    return declaration.declarations.some(
      ({ id, init }) => id.type === 'Identifier' && id.name === 'execute' && !isPlainValue(init?.type),
    )
  })
}

/** What can never be called. */
function isPlainValue(type: string | undefined): boolean {
  return /^(Template)?Literal$|^(Object|Array)Expression$/.test(type ?? '')
}
