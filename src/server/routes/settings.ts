import { basename } from 'node:path'
import { describeProjectAuthority, hashPart } from '../../config/authority.ts'
import type { Environment } from '../../config/environment.ts'
import { type KeyInfo, listKeys } from '../../config/keys.ts'
import { writtenForm } from '../../config/known-keys.ts'
import { type LoadedConfig, loadConfig } from '../../config/load.ts'
import { splitKey } from '../../config/positions.ts'
import { trust, untrust } from '../../config/trust.ts'
import { summarizeDiff } from '../../core/unified-diff.ts'
import { diagnose } from '../../doctor.ts'
import type { Runtime } from '../../runtime.ts'
import { readText, replaceText } from '../../store/saved-text.ts'
import { type Api, answer, body, json, route, z } from '../api.ts'
import { configPath, problemsOfText } from '../config-files.ts'
import { callerName, mayApprove, refuseBound } from '../door.ts'
import type { ConfigFollower } from '../follow-config.ts'
import { HttpProblem } from '../problem.ts'

export interface SettingsParts {
  readonly runtime: Runtime
  readonly loaded: LoadedConfig
  readonly config: ConfigFollower
  readonly environment: Environment
  readonly version: string
}

const origin = z.object({
  layer: z.string(),
  file: z.string().optional(),
  line: z.int().optional(),
  written: z.unknown().optional(),
})

const setting = z
  .object({
    key: z.string(),
    value: z.unknown(),
    /** Of a duration or a size: as a file says it. */
    text: z.string().optional(),
    origin,
    overrides: z.array(origin),
  })
  .openapi('Setting')

/** The configuration that counts, where it comes from, whether the project is trusted, and the doctor's findings. */
export function settingsRoutes(api: Api, parts: SettingsParts): void {
  configRoutes(api, parts)
  fileRoutes(api, parts)
  trustRoutes(api, parts)
  doctorRoute(api, parts)
}

function configRoutes(api: Api, { config, runtime, version }: SettingsParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/config',
      summary: 'Every setting in effect, with the file and line it comes from',
      responses: {
        200: json(
          z.object({
            version: z.string(),
            workspace: z.string(),
            mode: z.string(),
            settings: z.array(setting),
            files: z.array(z.object({ path: z.string(), layer: z.string(), status: z.string() })),
            warnings: z.array(
              z.looseObject({ message: z.string(), file: z.string().optional(), line: z.int().optional() }),
            ),
            trust: z.string(),
            /** Why the files as they are now do not count; what they said before does. */
            problem: z.string().nullable(),
          }),
          'The configuration that counts',
        ),
      },
    }),
    context => {
      const { loaded, problem } = config
      const shown = {
        version,
        workspace: loaded.workspace.root,
        mode: loaded.config.mode,
        settings: listKeys(loaded).map(info => shownSetting(runtime, info)),
        files: loaded.files,
        warnings: loaded.warnings,
        trust: loaded.trust.status,
        problem: problem ?? null,
      }
      return answer(context, runtime.redact(shown))
    },
  )
}

/** Secrets are references, but a header or a variable may have been written out: what it is called tells. */
function shownSetting({ redact }: Runtime, info: KeyInfo): z.infer<typeof setting> {
  const path = splitKey(info.key) ?? []
  const hide = (value: unknown): unknown => Object.values(redact({ [path.at(-1) ?? '']: value }))[0]
  const hideWritten = (from: KeyInfo['origin']): KeyInfo['origin'] => ({
    ...from,
    written: hide(from.written),
  })
  const text = writtenForm(path, info.value)
  return {
    key: info.key,
    value: hide(info.value),
    ...(text === undefined ? {} : { text }),
    origin: hideWritten(info.origin),
    overrides: info.overrides.map(hideWritten),
  }
}

const layer = z.enum(['user', 'project', 'local'])
const file = z
  .object({
    layer,
    path: z.string(),
    /** Empty when there is no such file. */
    text: z.string(),
    /** Null when there is no such file. */
    hash: z.string().nullable(),
  })
  .openapi('ConfigText')

function fileRoutes(api: Api, parts: SettingsParts): void {
  const { loaded, environment, runtime } = parts
  const look = (of: z.infer<typeof layer>): z.infer<typeof file> => {
    const path = configPath(loaded, environment, of)
    const found = readText(path)
    return { layer: of, path, text: found?.text ?? '', hash: found?.sha256 ?? null }
  }
  api.openapi(
    route('admin', {
      method: 'get',
      path: '/api/config/files/{layer}',
      summary: 'The text of a configuration file that a person edits',
      request: { params: z.object({ layer }) },
      responses: { 200: json(file, 'The file') },
    }),
    context => context.json(look(context.req.valid('param').layer), 200),
  )
  api.openapi(
    route('admin', {
      method: 'post',
      path: '/api/config/files/{layer}/check',
      summary: 'What is wrong with a text, and how it differs from the file; writes nothing',
      request: { params: z.object({ layer }), body: body(z.object({ text: z.string().max(1_000_000) })) },
      responses: {
        200: json(z.object({ problems: z.array(z.string()), diff: z.string() }), 'The findings'),
      },
    }),
    async context => {
      const { text } = context.req.valid('json')
      const { text: before, path, layer: of } = look(context.req.valid('param').layer)
      const { diff } = summarizeDiff(before, text, basename(path))
      return context.json({ problems: await problemsOfText(parts, text, of), diff: diff ?? '' }, 200)
    },
  )
  api.openapi(
    route('admin', {
      method: 'put',
      path: '/api/config/files/{layer}',
      summary:
        'Replace a configuration file; also needs the scope approve. What it says about permissions counts at once, other settings from the next start',
      request: {
        params: z.object({ layer }),
        body: body(z.object({ text: z.string().max(1_000_000), base: z.string().max(100).nullable() })),
      },
      responses: { 200: json(file, 'The file') },
    }),
    async context => {
      // Whoever writes rules decides what needs no approval.
      if (!mayApprove(context))
        throw new HttpProblem(403, 'forbidden', "This token does not have the scope 'approve'.")
      const { text, base } = context.req.valid('json')
      const before = look(context.req.valid('param').layer)
      if (before.layer === 'user') refuseBound(context)
      const [problem] = await problemsOfText(parts, text, before.layer)
      if (problem !== undefined) throw new HttpProblem(400, 'invalid_input', problem)
      replaceText(before.path, text, base)
      const { diff } = summarizeDiff(before.text, text, basename(before.path))
      runtime.note('config-saved', { file: before.path, diff, user: callerName(context) })
      await parts.config.check()
      return context.json(look(before.layer), 200)
    },
  )
}

function trustRoutes(api: Api, { environment, loaded, config, runtime }: SettingsParts): void {
  const look = () => {
    const now = loadConfig({ cwd: loaded.workspace.root, named: true, environment })
    const { trust: state, projectPart } = now
    return {
      projectPart,
      shown: {
        status: state.status,
        since: 'since' in state ? state.since : null,
        lines: describeProjectAuthority(projectPart).map(({ kind, file, text }) => ({ kind, file, text })),
        changes: state.status === 'changed' ? state.changes.map(each => ({ ...each })) : [],
        digest: hashPart(projectPart),
      },
    }
  }
  const shape = z
    .object({
      status: z.enum(['not-needed', 'trusted', 'untrusted', 'changed']),
      since: z.string().nullable(),
      /** What the files of the project would switch on, one line each. */
      lines: z.array(z.object({ kind: z.string(), file: z.string(), text: z.string() })),
      changes: z.array(z.object({ change: z.string(), text: z.string() })),
      digest: z.string(),
    })
    .openapi('ProjectTrust')
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/trust',
      summary: "What the project's own files would switch on, and whether a person trusts them",
      responses: { 200: json(shape, 'The review') },
    }),
    context => context.json(look().shown, 200),
  )
  api.openapi(
    route('approve', {
      method: 'post',
      path: '/api/trust',
      summary:
        'Trust exactly what was reviewed, or take the trust back; what it says about permissions counts at once',
      request: { body: body(z.object({ digest: z.string().max(100), trusted: z.boolean() })) },
      responses: { 200: json(shape, 'The review') },
    }),
    async context => {
      const { digest, trusted } = context.req.valid('json')
      const { projectPart, shown } = look()
      if (shown.digest !== digest)
        throw new HttpProblem(409, 'stale', 'The files have changed since they were reviewed.')
      const { root } = loaded.workspace
      if (trusted) await trust(environment, root, projectPart)
      else await untrust(environment, root)
      const details = { workspace: root, settings: describeProjectAuthority(projectPart) }
      runtime.note(trusted ? 'trust-given' : 'trust-ended', details)
      await config.check()
      return context.json(look().shown, 200)
    },
  )
}

/** People paste the findings into issues: they hold no secret, and not whose home it is. */
function doctorRoute(api: Api, { loaded, environment, version, runtime }: SettingsParts): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/doctor',
      summary: 'Check that everything Kogu needs is there; changes nothing',
      responses: {
        200: json(
          z.object({
            overall: z.enum(['ok', 'warn', 'fail']),
            checks: z.array(
              z.object({
                id: z.string(),
                status: z.enum(['ok', 'warn', 'fail']),
                summary: z.string(),
                remedy: z.string().optional(),
                ms: z.int(),
              }),
            ),
          }),
          'The findings',
        ),
      },
    }),
    async context => {
      const load = { cwd: loaded.workspace.root, named: true, environment }
      const { overall, checks } = await diagnose({ load, version })
      const { home } = environment
      const plain = (text: string): string =>
        home.length > 1 ? runtime.redact(text).replaceAll(home, '~') : runtime.redact(text)
      const shown = checks.map(({ summary, remedy, ...check }) => ({
        ...check,
        summary: plain(summary),
        ...(remedy === undefined ? {} : { remedy: plain(remedy) }),
      }))
      return answer(context, { overall, checks: shown })
    },
  )
}
