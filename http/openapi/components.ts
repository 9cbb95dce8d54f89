import { z } from "zod";
import type { oas31, ZodOpenApiComponentsObject } from "zod-openapi";
import { API_VERSION } from "../wire/headers.js";
import { type Route, toAnswers, toSuccess } from "../wire/route.js";

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
    description: "The version that the request was written for. Unsupported versions are rejected.",
    schema: { type: "string" },
    example: API_VERSION,
  },
  ServiceClient: {
    name: "Service-Client",
    in: "header",
    description: "`iac-provider/<version>` or `web`; recorded with every configuration change.",
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
      "Optional; 1 to 255 visible characters. The same key with the same body takes effect once within 24 hours.",
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
      "The hook that caused the request, if any: the `webhook-id` of the hook's request, which names its firing, " +
      "or the `service-cause` that it carried, which names the firing before. Subsequent events join the chain " +
      "of the firing; the loop guard stops chains of 8 causes. An unknown value has no effect.",
    schema: { type: "string", maxLength: 255 },
    example: "msg_01KB8Z0V5N7Q6T0M1W2X3Y4Z5A-3Y4Z5B6C_tell",
  },
} as const satisfies Record<string, oas31.ParameterObject>;

/** Returns a reference to a shared parameter. */
export function sharedParameter(name: keyof typeof parameters): oas31.ReferenceObject {
  return { $ref: `#/components/parameters/${name}` };
}

/**
 * Returns the components that operations refer to by name: the titled schemas of responses, the schema of problems, and
 * the shared parameters, headers and security schemes.
 */
export function toComponents(routes: readonly Route[]): ZodOpenApiComponentsObject {
  return {
    schemas: { ...namedSchemas(routes), Problem: problemSchema },
    parameters,
    headers: {
      ServiceApiVersion: {
        description: "The version that the request was served in.",
        schema: { type: "string" },
        example: API_VERSION,
      },
      RequestId: { description: "The id of the request, as in the service's log.", schema: { type: "string" } },
    },
    securitySchemes: {
      session: {
        type: "apiKey",
        in: "cookie",
        name: "session",
        description: "A signed-in person. A write with the cookie must carry this service's `Origin`, or no `Origin`.",
      },
      token: {
        type: "http",
        scheme: "bearer",
        description: "A workspace token. It acts in one workspace, within its scopes.",
      },
      callback: { type: "http", scheme: "bearer", description: "The callback token of a hook's request." },
      metrics: {
        type: "http",
        scheme: "bearer",
        description:
          "The value of METRICS_TOKEN. If METRICS_TOKEN is not set, the service accepts only requests from its " +
          "own machine.",
      },
      pool: { type: "http", scheme: "bearer", description: "A runner pool token." },
    },
  };
}

const problemSchema = z
  .looseObject({
    type: z.string().describe("`urn:service:problem:<slug>`; stable."),
    title: z.string().describe("A short summary of the problem."),
    status: z.int().describe("HTTP status of the response, 400 to 599."),
    detail: z.string().describe("What went wrong; for `invalid`, each error as `<path>: <message>`, one per line."),
    errors: z
      .array(
        z.looseObject({
          path: z.string().describe("Path of the field, such as `stations[0].key`; empty for the whole body."),
          message: z.string().describe("What is wrong with the value of the field."),
          severity: z.string().describe("`error` for a value that the service rejects."),
        }),
      )
      .optional()
      .describe("Present when the request was invalid."),
    currentVersion: z.int().optional().describe("Present on `moved-on`: the current version of the resource."),
    hint: z
      .string()
      .optional()
      .describe(
        "Present on `not-found` if the path takes an id and the request has a key or an address: how to find the id.",
      ),
    permission: z.string().optional().describe("Present on `forbidden`: the permission the caller lacks."),
  })
  .describe("A problem (RFC 9457).");

function namedSchemas(routes: readonly Route[]): Record<string, z.ZodType> {
  const named: Record<string, z.ZodType> = {};
  for (const route of routes) {
    for (const declared of Object.values(toAnswers(route))) collect(toSuccess(declared).body, named);
  }
  return named;
}

/**
 * Collects the schemas with a title in `schema`: the schema itself and, at any depth, object fields, array elements,
 * and schemas that are nullable or optional. Throws if two schemas have the same title.
 */
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
