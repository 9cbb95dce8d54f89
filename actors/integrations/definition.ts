import { z } from "zod";
import { expression, jsonTemplate, template } from "../expressions/schemas.js";
import { displayName, distinct, hostName, slug } from "../resources/fields.js";
import { eventsSchema, markSchema } from "./events.js";
import { oauth2Schema } from "./oauth2.js";
import { headerField, named, requestSchema, variableName } from "./request.js";

const optional = expression.nullable().default(null);
const text = (most: number) => z.string().max(most, `must be at most ${most} characters`);
const everyMinutes = z
  .int("must be a whole number")
  .min(1, "must be at least 1")
  .max(7 * 24 * 60, "must be at most a week");

/** The common part of both signature schemes: where the signature is, and what it covers. */
const signature = {
  header: headerField,
  encoding: z.enum(["hex", "base64"], "must be hex or base64").default("hex"),
  /** The prefix of the signature in its header, such as `sha256=`. */
  prefix: text(64).default(""),
  /** What is signed; the delivery's body by default. */
  signed: optional,
  freshness: z
    .strictObject({
      at: expression,
      withinSeconds: z.int("must be a whole number").min(1, "must be at least 1").max(86_400).default(300),
    })
    .nullable()
    .default(null),
};

const verify = z.strictObject({
  hmac: z
    .strictObject({
      /** Name of the secret whose value is the key. */
      secret: slug,
      algorithm: z.enum(["sha256", "sha1", "sha512"], "must be sha256, sha1 or sha512").default("sha256"),
      ...signature,
    })
    .nullable()
    .default(null),
  asymmetric: z
    .strictObject({
      /** The public key, as PEM. */
      key: template.min(1, "must not be empty"),
      algorithm: z.enum(["ed25519", "es256", "rs256"], "must be ed25519, es256 or rs256"),
      ...signature,
    })
    .nullable()
    .default(null),
});

/** Where tasks are routed by the value of `route.by`. */
const place = z.strictObject({
  line: slug,
  station: slug.nullable().default(null),
  channel: text(255).nullable().default(null),
});

const webhook = z.strictObject({
  verify: verify.nullable().default(null),
  respond: z.strictObject({ when: expression, body: expression }).nullable().default(null),
  /** Whether the delivery is about something that this integration did itself. */
  mine: optional,
  route: z
    .strictObject({ by: expression, to: named(text(255), place) })
    .nullable()
    .default(null),
  /** Identifies repeated deliveries. */
  delivery: optional,
  events: eventsSchema,
});

const poll = z.strictObject({
  everyMinutes: everyMinutes.default(5),
  request: requestSchema("GET"),
  cursor: optional,
  events: eventsSchema,
});

const blockName = text(64).regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be lowercase words joined by dashes");

const action = z.strictObject({
  request: requestSchema("POST"),
  schedule: z.strictObject({ everyMinutes }).nullable().default(null),
});

const input = z.strictObject({
  type: z.enum(["string", "number", "boolean", "object", "array"]).default("string"),
  description: text(2_000).default(""),
  required: z.boolean("must be true or false").default(false),
  default: jsonTemplate.optional(),
});

const tool = z.strictObject({
  description: text(2_000).default(""),
  /** The action that a call runs. */
  action: blockName,
  inputs: named(variableName, input),
  output: optional,
  /** Whether a person approves each call. */
  approval: z.boolean("must be true or false").default(false),
});

const connection = z.strictObject({
  holder: z.enum(["team", "requester"], "must be team or requester").default("team"),
  oauth2: oauth2Schema.nullable().default(null),
  token: z
    .strictObject({
      /** Name of the secret sent with every request. */
      secret: slug,
      header: headerField.default("authorization"),
      prefix: text(64).default("Bearer "),
    })
    .nullable()
    .default(null),
});

/** The steps in a task's life that an integration may act on. */
const bindingEvents = ["task.opened", "task.moved", "task.asked", "task.finished", "task.closed"] as const;

const binding = z.strictObject({
  event: z.enum(bindingEvents, `must be one of ${bindingEvents.join(", ")}`),
  action: blockName,
  to: named(variableName, expression),
  mark: named(slug, markSchema),
});

/** The whole of an integration, as data. */
export const integrationSchema = z.strictObject({
  integration: slug,
  name: displayName,
  hosts: distinct(hostName, "must name each host once").max(100, "must be at most 100 hosts").default([]),
  webhook: webhook.nullable().default(null),
  poll: poll.nullable().default(null),
  actions: named(blockName, action),
  tools: named(text(64).regex(/^[A-Za-z0-9_-]+$/, "must be letters, digits, underscores or dashes"), tool),
  connection: connection.nullable().default(null),
  on: z.array(binding).max(100, "must be at most 100 bindings").default([]),
});

export type IntegrationFields = z.output<typeof integrationSchema>;
