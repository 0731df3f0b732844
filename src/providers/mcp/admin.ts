import { ToolError, toToolError } from '../../core/errors.ts'
import { Registry } from '../../core/registry.ts'
import { tokensOf } from '../../core/tool-offer.ts'
import type { OpenedTransport } from './connection.ts'
import { fetchedPackage } from './fetched-package.ts'
import { type InstallParts, installServer } from './install-server.ts'
import { createMcpProvider, trustedRecord } from './mcp-provider.ts'
import type { McpRecord, McpRecords } from './record.ts'
import { configHash, type McpServerConfig, recordKey } from './server-config.ts'
import { pinOf } from './tool-definition.ts'

export interface AdminParts {
  readonly servers: readonly McpServerConfig[]
  readonly records: McpRecords
  readonly version: string
  readonly install: InstallParts
  open(server: McpServerConfig, record: McpRecord): Promise<OpenedTransport>
  /** What the process that was started last wrote to standard error, its end. */
  log(server: McpServerConfig): string
}

interface ServerTest {
  readonly ok: boolean
  readonly ms: number
  readonly era: string | null
  readonly tools: number
  readonly tokens: number
  readonly problems: readonly string[]
}

/** What a person does with the servers of the configuration. */
export interface McpAdmin {
  readonly servers: readonly McpServerConfig[]
  /** Undefined when it was never trusted. */
  record(server: McpServerConfig): McpRecord | undefined
  /** As one word or two: trusted, not trusted, changed, off. */
  status(server: McpServerConfig): 'trusted' | 'not trusted' | 'changed' | 'off'
  /** Trusts this configuration; fetches the server first when it has to be fetched. */
  trust(server: McpServerConfig): Promise<McpRecord>
  forget(server: McpServerConfig): Promise<void>
  /** The end of what it wrote to standard error since it was started last. It may hold anything. */
  log(server: McpServerConfig): string
  /** Starts the server anew and lists its tools. */
  test(server: McpServerConfig): Promise<ServerTest>
  /**
   * Approves held definitions by their pins, so that what is approved is what somebody has looked at: a server may change
   * its mind between the look and the yes. Returns the names of the tools.
   */
  approve(server: McpServerConfig, pins: readonly string[]): Promise<string[]>
}

export function createMcpAdmin(parts: AdminParts): McpAdmin {
  const { servers, records } = parts
  return {
    servers,
    record: server => records.read(recordKey(server)),
    status(server) {
      if (!server.enabled) return 'off'
      const record = records.read(recordKey(server))
      if (record === undefined) return 'not trusted'
      return record.config === configHash(server) ? 'trusted' : 'changed'
    },
    async trust(server) {
      const fetched = server.command === undefined ? undefined : fetchedPackage(server)
      const installed =
        fetched === undefined ? undefined : await installServer(parts.install, recordKey(server), fetched)
      const trusted: McpRecord = {
        config: configHash(server),
        trustedAt: new Date().toISOString(),
        pins: {},
        held: {},
        ...(installed === undefined ? {} : { installed }),
      }
      await records.update(recordKey(server), () => trusted)
      return trusted
    },
    forget: server => records.update(recordKey(server), () => undefined),
    log: parts.log,
    test: server => testServer(parts, server),
    async approve(server, pins) {
      const approved: string[] = []
      trustedRecord(records, server)
      await records.update(recordKey(server), record => {
        if (record === undefined) return record
        const chosen = Object.entries(record.held).filter(([, tool]) => pins.includes(pinOf(tool)))
        if (chosen.length < new Set(pins).size) {
          throw new ToolError(
            'stale',
            `The tools of '${server.name}' have changed since you looked at them.`,
            {
              hint: `Look again: kogu mcp tools ${server.name}`,
            },
          )
        }
        approved.push(...chosen.map(([name]) => name))
        const held = Object.entries(record.held).filter(([name]) => !approved.includes(name))
        return {
          ...record,
          pins: { ...record.pins, ...Object.fromEntries(chosen) },
          held: Object.fromEntries(held),
        }
      })
      return approved
    },
  }
}

async function testServer(
  { records, version, open }: AdminParts,
  server: McpServerConfig,
): Promise<ServerTest> {
  const started = performance.now()
  const ms = (): number => Math.round(performance.now() - started)
  const registry = new Registry({ startMs: server.startMs * 2 })
  try {
    trustedRecord(records, server)
    const provider = createMcpProvider({
      server,
      version,
      records,
      isEager: true,
      open: record => open(server, record),
      callOnLayer: () => Promise.reject(new Error('A server that is tested is not called.')),
    })
    await registry.add(provider)
    const tools = registry.list().map(entry => entry.tool)
    const isUp = registry.statistics().at(-1)?.available === true
    return {
      ok: isUp,
      ms: ms(),
      era: records.read(recordKey(server))?.era ?? null,
      tools: tools.length,
      tokens: tools.reduce((sum, tool) => sum + tokensOf(tool), 0),
      problems: registry.problems(),
    }
  } catch (error) {
    const problem = `${server.name}: ${toToolError(error).message}`
    return { ok: false, ms: ms(), era: null, tools: 0, tokens: 0, problems: [problem] }
  } finally {
    await registry.close()
  }
}
