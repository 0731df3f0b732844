import { countRuns } from '../store/tables/run-queue.ts'
import { type Api, route, z } from './api.ts'
import type { Services } from './services.ts'

/** What requests cost, counted as they end. */
export interface RequestCounts {
  count(request: { method: string; route: string; status: number; ms: number }): void
  lines(): string[]
}

const BUCKETS_MS = [5, 25, 100, 500, 2_500, 10_000]

export function createRequestCounts(): RequestCounts {
  const counts = new Map<string, number>()
  const buckets = BUCKETS_MS.map(() => 0)
  const total = { count: 0, ms: 0 }
  return {
    count({ method, route, status, ms }) {
      // Routes are those of the document, so that paths of strangers do not become labels.
      const key = `method="${method}",route="${route}",status="${status}"`
      counts.set(key, (counts.get(key) ?? 0) + 1)
      total.count += 1
      total.ms += ms
      BUCKETS_MS.forEach((most, index) => {
        if (ms <= most) buckets[index] = (buckets[index] ?? 0) + 1
      })
    },
    lines: () => [
      '# TYPE kogu_http_requests_total counter',
      ...[...counts].map(([labels, value]) => `kogu_http_requests_total{${labels}} ${value}`),
      '# TYPE kogu_http_request_duration_seconds histogram',
      ...BUCKETS_MS.map(
        (most, index) => `kogu_http_request_duration_seconds_bucket{le="${most / 1000}"} ${buckets[index]}`,
      ),
      `kogu_http_request_duration_seconds_bucket{le="+Inf"} ${total.count}`,
      `kogu_http_request_duration_seconds_sum ${(total.ms / 1000).toFixed(6)}`,
      `kogu_http_request_duration_seconds_count ${total.count}`,
    ],
  }
}

/** For Prometheus. */
export function metricRoutes(api: Api, counts: RequestCounts, services: () => Promise<Services>): void {
  api.openapi(
    route('read', {
      method: 'get',
      path: '/api/metrics',
      summary: 'Figures about requests, runs, workers and questions, for Prometheus',
      responses: { 200: { description: 'Text', content: { 'text/plain': { schema: z.string() } } } },
    }),
    async context => {
      const { database, runs, worker, watch, hub } = await services()
      const states = Object.entries(await countRuns(database, runs.place))
      const lines = [
        ...counts.lines(),
        '# TYPE kogu_runs gauge',
        ...states.map(([state, count]) => `kogu_runs{state="${state}"} ${count}`),
        '# TYPE kogu_worker_runs gauge',
        `kogu_worker_runs ${worker.running}`,
        '# TYPE kogu_approvals_waiting gauge',
        `kogu_approvals_waiting ${watch.waiting}`,
        '# TYPE kogu_events_newest counter',
        `kogu_events_newest ${hub.newest}`,
        '# TYPE process_resident_memory_bytes gauge',
        `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
      ]
      return context.text(`${lines.join('\n')}\n`, 200) as never
    },
  )
}
