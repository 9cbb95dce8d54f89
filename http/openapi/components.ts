import { z } from "zod";
import type { oas31, ZodOpenApiComponentsObject } from "zod-openapi";
import { API_VERSION } from "../wire/headers.js";
import { answersOf, type Route, successOf } from "../wire/route.js";

/** Converts text to Pascal case, for component names: `hook-occurrence` becomes `HookOccurrence`. */
export function pascal(text: string): string {
  return text.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Headers of every response. */
export const answerHeaders: oas31.HeadersObject = {
  "Service-Api-Version": { $ref: "#/components/headers/ServiceApiVersion" },
  "X-Request-Id": { $ref: "#/components/headers/RequestId" },
};

/** Parameters that several operations share, by reference name. */
const parameters = {
  ServiceApiVersion: {
    name: "Service-Api-Version",
    in: "header",
    description: "The version that the request was written for; one that is not served is refused.",
    schema: { type: "string" },
    example: API_VERSION,
  },
  ServiceClient: {
    name: "Service-Client",
    in: "header",
    description: "`iac-provider/<version>` or `web`; recorded with every change of the configuration.",
    schema: { type: "string" },
    example: "web",
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: true,
    description: "1 to 255 visible characters. The same key with the same body creates only once within 24 hours.",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
    example: "7b1f0c52-create-line",
  },
  OptionalIdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Optional; 1 to 255 visible characters. The same key with the same body is taken once within 24 hours.",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
    example: "7b1f0c52-note",
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    required: true,
    description: "The ETag of the version that the write is based on: one strong entity tag.",
    schema: { type: "string", pattern: '^"\\d{1,15}"$' },
    example: '"3"',
  },
  ServiceCause: {
    name: "Service-Cause",
    in: "header",
    description:
      "What caused the request, when a hook did: the `webhook-id` of the hook's request, which names the firing that " +
      "made it, or the `service-cause` it carried, which names the firing before. What follows joins the chain of the " +
      "firing that made the request; the loop guard stops a chain of 8 causes. An unknown value has no effect.",
    schema: { type: "string", maxLength: 255 },
    example: "msg_01KB8Z0V5N7Q6T0M1W2X3Y4Z5A-3Y4Z5B6C_tell",
  },
} as const satisfies Record<string, oas31.ParameterObject>;

/** Returns a reference to a shared parameter. */
export function sharedParameter(name: keyof typeof parameters): oas31.ReferenceObject {
  return { $ref: `#/components/parameters/${name}` };
}

/** Returns everything that operations refer to by name, including all schemas with a title. */
export function componentsOf(routes: readonly Route[]): ZodOpenApiComponentsObject {
  return {
    schemas: { ...namedSchemas(routes), Problem: problemSchema },
    parameters,
    headers: {
      ServiceApiVersion: {
        description: "The version that the request was served in.",
        schema: { type: "string" },
        example: API_VERSION,
      },
      RequestId: { description: "The request's id, as the log has it.", schema: { type: "string" } },
    },
    securitySchemes: {
      session: {
        type: "apiKey",
        in: "cookie",
        name: "session",
        description: "A signed-in person. A write with the cookie carries this service's `Origin`, or none.",
      },
      token: { type: "http", scheme: "bearer", description: "A workspace token: one workspace, within its scopes." },
      callback: { type: "http", scheme: "bearer", description: "The callback token of a hook's request." },
      metrics: { type: "http", scheme: "bearer", description: "METRICS_TOKEN; without it, this machine alone." },
      pool: { type: "http", scheme: "bearer", description: "The token of a runner pool." },
    },
  };
}

const problemSchema = z
  .looseObject({
    type: z.string().describe("`urn:service:problem:<slug>`; stable."),
    title: z.string().describe("A short summary."),
    status: z.int().describe("The HTTP status."),
    detail: z.string().describe("What went wrong; for `invalid`, each error as `<path>: <message>`, one per line."),
    errors: z
      .array(z.looseObject({ path: z.string(), message: z.string(), severity: z.string() }))
      .optional()
      .describe("Present when the request was invalid."),
    currentVersion: z.int().optional().describe("Present on `moved-on`: the version the resource is at now."),
    hint: z
      .string()
      .optional()
      .describe("Present on `not-found` where the path takes an id and got a key or an address: how to find the id."),
    permission: z.string().optional().describe("Present on `forbidden`: the permission the caller lacks."),
  })
  .describe("A problem (RFC 9457).");

function namedSchemas(routes: readonly Route[]): Record<string, z.ZodType> {
  const named: Record<string, z.ZodType> = {};
  for (const route of routes) {
    for (const declared of Object.values(answersOf(route))) collect(successOf(declared).body, named);
  }
  return named;
}

/** Collects every schema with a title in `schema`, at any depth. Throws if two schemas have the same title. */
function collect(schema: unknown, named: Record<string, z.ZodType>): void {
  if (!(schema instanceof z.ZodType)) return;
  const title = schema.meta()?.title;
  if (title !== undefined) {
    const name = pascal(title);
    if (named[name] === schema) return;
    if (named[name] !== undefined) throw new Error(`two schemas have the title ${title}`);
    named[name] = schema;
  }
  if (schema instanceof z.ZodObject) for (const field of Object.values(schema.shape)) collect(field, named);
  else if (schema instanceof z.ZodArray) collect(schema.element, named);
  else if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) collect(schema.unwrap(), named);
}
