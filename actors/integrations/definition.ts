import { z } from "zod";
import { expression, jsonTemplate, template } from "../expressions/schemas.js";
import { displayName, distinct, hostName, slug } from "../resources/fields.js";
import { eventsSchema, markSchema } from "./events.js";
import { oauth2Schema } from "./oauth2.js";
import { headerField, named, requestSchema, variableName } from "./request.js";

const optional = expression.nullable().default(null);
const text = (maxLength: number) => z.string().max(maxLength, `must be at most ${maxLength} characters`);
const everyMinutes = z
  .int("must be a whole number")
  .min(1, "must be at least 1")
  .max(7 * 24 * 60, "must be at most a week");

/** The fields that both signature schemes have. */
const signature = {
  header: headerField.describe("The header that contains the signature; it may list several."),
  encoding: z
    .enum(["hex", "base64"], "must be hex or base64")
    .default("hex")
    .describe("The encoding of the signature."),
  prefix: text(64).default("").describe("The prefix before the signature in its header, such as `sha256=`."),
  signed: optional.describe("The signed text; the delivery's body if null."),
  freshness: z
    .strictObject({
      at: expression.describe("The time it was sent: seconds, milliseconds or RFC 3339."),
      withinSeconds: z
        .int("must be a whole number")
        .min(1, "must be at least 1")
        .max(86_400)
        .default(300)
        .describe("The largest allowed difference from now, before or after."),
    })
    .nullable()
    .default(null)
    .describe("Rejects deliveries that were sent too long ago; null for no check."),
};

const verify = z.strictObject({
  hmac: z
    .strictObject({
      secret: slug.describe("Name of the secret whose value is the key."),
      algorithm: z
        .enum(["sha256", "sha1", "sha512"], "must be sha256, sha1 or sha512")
        .default("sha256")
        .describe("The hash of the HMAC."),
      ...signature,
    })
    .nullable()
    .default(null)
    .describe("Deliveries are signed with a shared secret."),
  asymmetric: z
    .strictObject({
      key: template.min(1, "must not be empty").describe("The public key, as PEM."),
      algorithm: z
        .enum(["ed25519", "es256", "rs256"], "must be ed25519, es256 or rs256")
        .describe("The signature algorithm; the key must match it."),
      ...signature,
    })
    .nullable()
    .default(null)
    .describe("Deliveries are signed with a private key and verified with its public key."),
  token: z
    .strictObject({
      secret: slug.describe("Name of the secret whose value is the token."),
      header: headerField.describe("The header that contains the token; it is not stored."),
      prefix: text(64)
        .default("")
        .describe("The prefix before the token in its header, such as `Bearer `; case-insensitive."),
    })
    .nullable()
    .default(null)
    .describe("Deliveries carry a shared token in a header."),
  basic: z
    .strictObject({
      username: text(255)
        .min(1, "must not be empty")
        .regex(/^[^:\p{Cc}]*$/u, "must not contain a colon or a control character")
        .describe("User name that deliveries must authenticate with."),
      secret: slug.describe("Name of the secret whose value is the password."),
    })
    .nullable()
    .default(null)
    .describe("Deliveries authenticate with HTTP Basic."),
});

/** Methods of requests to a webhook that `respond` may answer. */
const respondMethods = ["POST", "GET", "HEAD"] as const;

/** The line and station on which tasks are opened for one value of `route.by`. */
const place = z.strictObject({
  line: slug.describe("Key of the line that tasks are opened on."),
  station: slug.nullable().default(null).describe("Key of the station; the line's first station if null."),
  channel: text(255).nullable().default(null).describe("Stored on the task; bindings read it as `target.channel`."),
});

const webhook = z.strictObject({
  verify: verify
    .nullable()
    .default(null)
    .describe("How deliveries are authenticated: exactly one of the four. Null rejects every delivery."),
  respond: z
    .strictObject({
      methods: distinct(z.enum(respondMethods, "must be POST, GET or HEAD"), "must name each method once")
        .min(1, "must name at least one method")
        .default(["POST"])
        .describe(
          "The request methods that get this response. A GET or HEAD is not verified: `body` has its query fields, and " +
            "the response is text.",
        ),
      when: expression.describe("Whether the service answers the request immediately and does nothing else with it."),
      body: expression.describe("The body of that answer."),
    })
    .nullable()
    .default(null)
    .describe("Answers requests that check the address, such as a challenge."),
  accepted: z
    .int("must be a whole number")
    .min(200, "must be at least 200")
    .max(204, "must be at most 204")
    .default(202)
    .describe("The status of the response to an accepted delivery."),
  mine: optional.describe("Whether this integration caused the delivery itself. Such deliveries are ignored."),
  route: z
    .strictObject({
      by: expression.describe("The value that selects the place of new tasks."),
      to: named(text(255), place).describe("The places by that value. A value that is not listed has no place."),
    })
    .nullable()
    .default(null)
    .describe("Where tasks are opened if an event names no line."),
  delivery: optional.describe(
    "The deduplication key. Repeated deliveries are counted, not processed; keys are stored for 7 days.",
  ),
  events: eventsSchema.describe("The events that a delivery may raise. The service tries each one."),
});

const poll = z.strictObject({
  everyMinutes: everyMinutes.default(5).describe("The time between the end of a request and the start of the next."),
  request: requestSchema("GET").describe("The request; its answer is processed like a delivery."),
  cursor: optional.describe("The position for the next request, read from the answer; text, initially empty."),
  events: eventsSchema.describe("The events that an answer may raise. The service tries each one."),
});

const blockName = text(64).regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be lowercase words joined by dashes");

const action = z.strictObject({
  request: requestSchema("POST").describe(
    "The request that is sent when a tool, a binding, a hook or the schedule runs the action.",
  ),
  schedule: z
    .strictObject({
      everyMinutes: everyMinutes.describe("The time between the end of a run and the start of the next."),
    })
    .nullable()
    .default(null)
    .describe("Runs the action periodically; its answer opens no tasks."),
});

const input = z.strictObject({
  type: z
    .enum(["string", "number", "boolean", "object", "array"])
    .default("string")
    .describe("The required type; calls with another type are rejected."),
  description: text(2_000).default("").describe("The description that the agent sees."),
  required: z.boolean("must be true or false").default(false).describe("Whether calls without it are rejected."),
  default: jsonTemplate.optional().describe("The value if the agent omits it."),
});

const tool = z.strictObject({
  description: text(2_000).default("").describe("The description that the agent sees."),
  action: blockName.describe("The action that a call runs."),
  inputs: named(variableName, input).describe("The inputs of a call; the action's expressions read them as `inputs`."),
  output: optional.describe("The result for the agent; the whole answer if null."),
  approval: z.boolean("must be true or false").default(false).describe("Whether a person must approve each call."),
});

const connection = z.strictObject({
  holder: z
    .enum(["team", "requester"], "must be team or requester")
    .default("team")
    .describe(
      "The account that requests use: the team's or, for tools, the account of the person who started the task.",
    ),
  oauth2: oauth2Schema.nullable().default(null).describe("How accounts are linked over OAuth."),
  token: z
    .strictObject({
      secret: slug.describe("Name of the secret that is sent with every request."),
      header: headerField.default("authorization").describe("The header that carries the secret."),
      prefix: text(64).default("Bearer ").describe("The prefix before the secret in the header."),
    })
    .nullable()
    .default(null)
    .describe("A secret that requests send instead of an account's token."),
});

/** The task events that an integration can handle. */
const bindingEvents = ["task.opened", "task.moved", "task.asked", "task.finished", "task.closed"] as const;

const binding = z.strictObject({
  event: z.enum(bindingEvents, `must be one of ${bindingEvents.join(", ")}`).describe("The event of a task."),
  action: blockName.describe("The action that the event runs."),
  to: named(variableName, expression).describe(
    "The fields of `target` in the request. If one has no value, the binding does not apply to the task.",
  ),
  mark: named(slug, markSchema).describe("Marks that the task gets when the action succeeds."),
});

/** The complete definition of an integration. */
export const integrationSchema = z.strictObject({
  integration: slug.describe("Key within its team; tools are named `<integration>.<tool>`. Fixed after the create."),
  name: displayName.describe("Title of the integration for people, 1 to 100 characters."),
  hosts: distinct(hostName, "must name each host once")
    .max(100, "must be at most 100 hosts")
    .default([])
    .describe("The hosts that its requests may go to, without `https://`."),
  webhook: webhook.nullable().default(null).describe("How the service processes deliveries to its `deliveriesUrl`."),
  poll: poll
    .nullable()
    .default(null)
    .describe("Sends a request every few minutes, instead of a webhook or in addition to it."),
  actions: named(blockName, action).describe("Requests that tools, bindings, hooks and schedules send, by name."),
  tools: named(text(64).regex(/^[A-Za-z0-9_-]+$/, "must be letters, digits, underscores or dashes"), tool).describe(
    "The tools that agents may call at stations that name them, by name.",
  ),
  connection: connection.nullable().default(null).describe("The credential of its requests; null for none."),
  on: z
    .array(binding)
    .max(100, "must be at most 100 bindings")
    .default([])
    .describe("Actions that run on an event of a task of the team."),
});

export type IntegrationFields = z.output<typeof integrationSchema>;
