import { createRoute, OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Scope } from './auth/tokens.ts'
import { type DoorVariables, requireScope } from './door.ts'
import { HttpProblem } from './problem.ts'

// How routes are declared: one definition gives validation, the scope check and the OpenAPI document.

export type Api = OpenAPIHono<{ Variables: DoorVariables }>

export function createApi(): Api {
  return new OpenAPIHono<{ Variables: DoorVariables }>({
    defaultHook: result => {
      if (result.success) return
      const errors = result.error.issues.map(issue => ({
        pointer: issue.path.map(part => `/${String(part)}`).join(''),
        message: issue.message,
      }))
      throw new HttpProblem(400, 'invalid_input', 'The request is not valid.', { errors })
    },
  })
}

/** A route that needs a scope. Errors are problem+json on every route, so they are declared here. */
export function route<const R extends RouteConfig>(scope: Scope, config: R) {
  return createRoute({
    ...config,
    middleware: [requireScope(scope)] as const,
    security: [{ session: [] }, { token: [scope] }],
    'x-kogu-scope': scope,
    responses: { ...config.responses, default: PROBLEM },
  } as const)
}

export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { 'application/json': { schema } } }
}

export function body<S extends z.ZodType>(schema: S) {
  return { required: true, content: { 'application/json': { schema } } }
}

/**
 * Sends a value whose own type says more than the schema of its route (read-only lists, open records). The client's types
 * come from the schema.
 */
export function answer(context: Context, value: unknown, status: ContentfulStatusCode = 200): never {
  return context.json(value as never, status) as never
}

const PROBLEM = {
  description: 'What went wrong, and what to do',
  content: {
    'application/problem+json': {
      schema: z
        .object({
          type: z.string(),
          title: z.string(),
          status: z.int(),
          detail: z.string(),
          code: z.string(),
          retryable: z.boolean(),
          hint: z.string().nullable(),
          request_id: z.string(),
          errors: z.array(z.object({ pointer: z.string(), message: z.string() })),
          error: z.string(),
          error_code: z.string(),
        })
        .openapi('Problem'),
    },
  },
}

/** Pages of a list: newest first, the next page by the cursor of the last one. */
export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(200).optional(),
})

/** For functions whose options are left out rather than undefined. */
export function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const given = Object.entries(value).filter(([, item]) => item !== undefined)
  // Only undefined values went.
  return Object.fromEntries(given) as { [K in keyof T]: Exclude<T[K], undefined> }
}

export { z }
