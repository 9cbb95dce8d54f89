import { z } from "zod";
import type {
  oas31,
  ZodOpenApiComponentsObject,
  ZodOpenApiOperationObject,
  ZodOpenApiPathItemObject,
} from "zod-openapi";
import { isBeforeEvent, type WorkEventName, workEventNames } from "../../actors/events/catalogue.js";
import { eventTaskSchema, eventTexts } from "../../actors/events/event-schema.js";
import { defaultBodySchema, toDefaultBody } from "../../actors/hooks/delivery/default-body.js";
import { createSampleEvent } from "../../actors/hooks/sample-event.js";
import { EXAMPLE_ULID } from "../wire/route.js";
import { pascal } from "./components.js";

/**
 * The requests that hooks send, as one OpenAPI 3.1 webhook per event. From these descriptions, receivers can generate
 * types and validate requests.
 */

/** The headers of hook requests, by the name of their component. */
const headers = {
  WebhookId: {
    name: "webhook-id",
    required: true,
    description: "The message's id, the same for each attempt of a step. Use it to ignore repeated requests.",
    schema: { type: "string" },
    example: "msg_01KB8Z0V5N7Q6T0M1W2X3Y4Z5A-3Y4Z5B6C_tell",
  },
  WebhookTimestamp: {
    name: "webhook-timestamp",
    required: true,
    description: "When this attempt was sent: Unix time in seconds. Reject requests older than 5 minutes.",
    schema: { type: "string", pattern: "^\\d+$" },
    example: "1795429770",
  },
  WebhookSignature: {
    name: "webhook-signature",
    required: false,
    description:
      "The signature (Standard Webhooks) of `<webhook-id>.<webhook-timestamp>.<body>`: `v1,` and an HMAC-SHA256 in " +
      "base64. After a rotation of the secret, two signatures with a space between. Absent with `signing.oidc`.",
    schema: { type: "string" },
    example: "v1,SOqTP7nSEyXOFNVQMKxxnu4gOIYq4EBhaXqh49L+pYA=",
  },
  ServiceHook: {
    name: "service-hook",
    required: true,
    description: "The key of the hook that sends the request.",
    schema: { type: "string" },
    example: "tell",
  },
  ServiceCallbackUrl: {
    name: "service-callback-url",
    required: true,
    description: "The base address of callbacks: append `/task` or `/notes`.",
    schema: { type: "string", format: "uri" },
    example: "https://signalbox.example.com/api/hook-callbacks",
  },
  ServiceCallbackToken: {
    name: "service-callback-token",
    required: true,
    description: "The bearer token for callbacks about this task, valid for 15 minutes.",
    schema: { type: "string" },
  },
  RequestServiceCause: {
    name: "service-cause",
    required: false,
    description: "The id of the hook firing that caused the event; absent if no hook caused it.",
    schema: { type: "string" },
    example: "occ_01KB8Z0V5N7Q6T0M1W2X3Y4Z5A-3Y4Z5B6C",
  },
  ServiceTest: {
    name: "service-test",
    required: false,
    description: "`true` if the request is a test with made-up data, else absent.",
    schema: { type: "string", const: "true" },
  },
  Traceparent: {
    name: "traceparent",
    required: false,
    description: "The trace of the request (W3C Trace Context); present if the service records traces.",
    schema: { type: "string" },
    example: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  },
} as const satisfies Record<string, Omit<oas31.ParameterObject, "in">>;

/** The names of all headers of hook requests, except the headers of HTTP itself. */
export const webhookHeaders: readonly string[] = Object.values(headers).map(({ name }) => name);

const refusal = z
  .looseObject({
    refuse: z.string().optional().describe("Why the event may not happen. Absent or empty to allow the event."),
  })
  .meta({ title: "hook-answer", description: "The answer of a receiver to a before event." });

/** Returns the webhooks of all events. */
export function toWebhooks(): Record<string, ZodOpenApiPathItemObject> {
  return Object.fromEntries(workEventNames.map((on) => [on, { post: toOperation(on) }]));
}

function toOperation(on: WorkEventName): ZodOpenApiOperationObject {
  const isBefore = isBeforeEvent(on);
  return {
    operationId: `on${pascal(on)}`,
    summary: `Receive ${on}`,
    description:
      `${eventTexts[on].when} ${isBefore ? WAITS : RETRIES} A hook on \`${on}\` sends this request, with this body ` +
      "unless its step defines another one.",
    tags: ["Hook occurrences"],
    // OpenAPI has no security scheme for signatures, so `{}` means a signed request. With `signing.oidc`, a
    // request has a bearer token.
    security: [{}, { hookToken: [] }],
    parameters: Object.keys(headers).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      content: { "application/json": { schema: defaultBodySchema(on), example: toExample(on) } },
    },
    responses: {
      "2XX": {
        description: isBefore
          ? "Received. The answer may refuse the event; the service reads at most 1 MiB of it."
          : "Received. The first 16 KiB of the body are the step's output; the service ignores the rest.",
        ...(isBefore ? { content: { "application/json": { schema: refusal, example: REFUSED } } } : {}),
      },
      "3XX": { description: "A failure: the service does not follow redirects." },
      "4XX": {
        description: isBefore
          ? FAILED
          : "A failure that the service does not retry, except after 408, 425 and 429; see `Retry-After`.",
      },
      "5XX": { description: isBefore ? FAILED : "A failure that the service retries, up to eight attempts in total." },
    },
  };
}

const WAITS = "The event waits for the answer, at most 60 seconds for all hooks together.";
const RETRIES = "The event has already happened; failed requests are retried.";
const FAILED = 'A failure without a retry. It refuses the event only if the hook has `"failure": "block"`.';

const REFUSED = { refuse: "No changes on Fridays." };

/** Returns the example body of an event: the body that `signalbox hook test` sends, without the field `test`. */
function toExample(on: WorkEventName): object {
  const match = { tools: [], lines: [], stations: [], repositories: [], paths: [] };
  const hook = { workspaceId: "", teamId: null, fields: { on, match } };
  const sample = createSampleEvent(hook, { occurrence: `occ_${EXAMPLE_ULID}`, nowMs: EXAMPLE_TIME_MS });
  const { test: _test, ...body } = toDefaultBody("tell", sample);
  return body;
}

const EXAMPLE_TIME_MS = Date.parse("2026-09-23T08:30:00.000Z");

/** Adds the components that the webhooks refer to. */
export function withWebhookComponents(components: ZodOpenApiComponentsObject): ZodOpenApiComponentsObject {
  const parameters = Object.entries(headers).map(([name, header]) => [name, { ...header, in: "header" }]);
  return {
    ...components,
    schemas: { ...components.schemas, EventTask: eventTaskSchema, HookAnswer: refusal },
    parameters: { ...components.parameters, ...Object.fromEntries(parameters) },
    securitySchemes: {
      ...components.securitySchemes,
      hookToken: {
        type: "http",
        scheme: "bearer",
        bearerFormat: "JWT",
        description:
          "With `signing.oidc`: a token of the service that names the hook, the `webhook-id` and the SHA-256 of the " +
          "body. Its keys are those of `/api/.well-known/openid-configuration`.",
      },
    },
  };
}

/**
 * Allows additional fields in the bodies of the webhooks. A later release may send more fields, and receivers must
 * accept them.
 */
export function openBodies({ webhooks = {}, components }: oas31.OpenAPIObject): void {
  open([webhooks, components?.schemas?.EventTask]);
}

function open(schema: unknown): void {
  if (typeof schema !== "object" || schema === null) return;
  if ("additionalProperties" in schema && schema.additionalProperties === false) {
    Reflect.deleteProperty(schema, "additionalProperties");
  }
  for (const inner of Object.values(schema)) open(inner);
}
