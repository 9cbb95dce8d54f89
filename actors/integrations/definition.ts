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

/** The common part of both signature schemes: the signature's header and the signed content. */
const signature = {
  header: headerField.describe("The header that the signature comes in; it may list several."),
  encoding: z.enum(["hex", "base64"], "must be hex or base64").default("hex").describe("How the signature is written."),
  prefix: text(64).default("").describe("What stands before the signature in its header, such as `sha256=`."),
  signed: optional.describe("What is signed; the delivery's body where it is null."),
  freshness: z
    .strictObject({
      at: expression.describe("When it was sent: seconds, milliseconds or RFC 3339."),
      withinSeconds: z
        .int("must be a whole number")
        .min(1, "must be at least 1")
        .max(86_400)
        .default(300)
        .describe("How far from now that may be, before or after."),
    })
    .nullable()
    .default(null)
    .describe("Refuses deliveries that were sent too long ago; null for none."),
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
        .describe("How they are signed; the key has to be of its kind."),
      ...signature,
    })
    .nullable()
    .default(null)
    .describe("Deliveries are signed with a private key, and verified with its public half."),
  token: z
    .strictObject({
      secret: slug.describe("Name of the secret whose value is the token."),
      header: headerField.describe("The header that the token comes in; it is not stored."),
      prefix: text(64)
        .default("")
        .describe("What stands before the token in its header, such as `Bearer `, in any case."),
    })
    .nullable()
    .default(null)
    .describe("Deliveries carry a shared token in a header."),
  basic: z
    .strictObject({
      username: text(255)
        .min(1, "must not be empty")
        .regex(/^[^:\p{Cc}]*$/u, "must hold no colon and no control character")
        .describe("The user name."),
      secret: slug.describe("Name of the secret whose value is the password."),
    })
    .nullable()
    .default(null)
    .describe("Deliveries authenticate with HTTP Basic."),
});

/** Methods of requests to a webhook that `respond` may answer. */
const respondMethods = ["POST", "GET", "HEAD"] as const;

/** The target of tasks that `route.by` routes by its value. */
const place = z.strictObject({
  line: slug.describe("Key of the line that tasks are opened on."),
  station: slug.nullable().default(null).describe("Key of the station; the line's first one where it is null."),
  channel: text(255)
    .nullable()
    .default(null)
    .describe("Kept on the task, and `target.channel` in what bindings send about it."),
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
          "The request methods that get this response. A GET or HEAD is not verified: its query fields are `body`, and " +
            "the response is text.",
        ),
      when: expression.describe("Whether a request is answered at once, and nothing else is done with it."),
      body: expression.describe("The body of that answer."),
    })
    .nullable()
    .default(null)
    .describe("Answers what the other side asks of the address, such as a challenge."),
  accepted: z
    .int("must be a whole number")
    .min(200, "must be at least 200")
    .max(204, "must be at most 204")
    .default(202)
    .describe("The status of the response to an accepted delivery."),
  mine: optional.describe("Whether a delivery is about what this integration did itself: then it is ignored."),
  route: z
    .strictObject({
      by: expression.describe("What the place is chosen by."),
      to: named(text(255), place).describe("The places by that value; one that is not named leads nowhere."),
    })
    .nullable()
    .default(null)
    .describe("Where tasks are opened, where an event names no line of its own."),
  delivery: optional.describe(
    "What is the same for a repeated delivery, which is counted and not worked; kept 7 days.",
  ),
  events: eventsSchema.describe("What a delivery may raise: each is tried."),
});

const poll = z.strictObject({
  everyMinutes: everyMinutes.default(5).describe("How long after its last end it asks again."),
  request: requestSchema("GET").describe("What is asked; its answer is worked as a delivery is."),
  cursor: optional.describe("Where the next request goes on, read from the answer; it is text, empty at first."),
  events: eventsSchema.describe("What an answer may raise: each is tried."),
});

const blockName = text(64).regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be lowercase words joined by dashes");

const action = z.strictObject({
  request: requestSchema("POST").describe(
    "What is sent when a tool, a binding, a hook or the schedule runs the action.",
  ),
  schedule: z
    .strictObject({ everyMinutes: everyMinutes.describe("How long after its last run ended it runs again.") })
    .nullable()
    .default(null)
    .describe("Runs the action by itself; its answer opens nothing."),
});

const input = z.strictObject({
  type: z
    .enum(["string", "number", "boolean", "object", "array"])
    .default("string")
    .describe("What it has to be; a call with anything else is refused."),
  description: text(2_000).default("").describe("What the agent is told of it."),
  required: z.boolean("must be true or false").default(false).describe("Whether a call without it is refused."),
  default: jsonTemplate.optional().describe("What it is where the agent leaves it out."),
});

const tool = z.strictObject({
  description: text(2_000).default("").describe("What the agent is told of it."),
  action: blockName.describe("The action that a call runs."),
  inputs: named(variableName, input).describe("What a call is given; expressions of the action see it as `inputs`."),
  output: optional.describe("What the agent gets; the whole answer where it is null."),
  approval: z.boolean("must be true or false").default(false).describe("Whether a person approves each call."),
});

const connection = z.strictObject({
  holder: z
    .enum(["team", "requester"], "must be team or requester")
    .default("team")
    .describe("Whose account requests use: the team's, or of tools that of the person who started the task."),
  oauth2: oauth2Schema.nullable().default(null).describe("How accounts are linked over OAuth."),
  token: z
    .strictObject({
      secret: slug.describe("Name of the secret that is sent with every request."),
      header: headerField.default("authorization").describe("The header that it is sent in."),
      prefix: text(64).default("Bearer ").describe("What stands before it in the header."),
    })
    .nullable()
    .default(null)
    .describe("A secret that requests bear instead of an account's token."),
});

/** The task events that an integration can handle. */
const bindingEvents = ["task.opened", "task.moved", "task.asked", "task.finished", "task.closed"] as const;

const binding = z.strictObject({
  event: z.enum(bindingEvents, `must be one of ${bindingEvents.join(", ")}`).describe("What happens to a task."),
  action: blockName.describe("The action that is run then."),
  to: named(variableName, expression).describe(
    "What the request sees as `target`; where one of them has no value, the binding is not for the task.",
  ),
  mark: named(slug, markSchema).describe("Marks that the task gets once the action succeeded."),
});

/** The complete definition of an integration. */
export const integrationSchema = z.strictObject({
  integration: slug,
  name: displayName,
  hosts: distinct(hostName, "must name each host once")
    .max(100, "must be at most 100 hosts")
    .default([])
    .describe("The hosts that its requests may go to, without `https://`."),
  webhook: webhook.nullable().default(null).describe("What is done with deliveries to its `deliveriesUrl`."),
  poll: poll
    .nullable()
    .default(null)
    .describe("Asks the other side every few minutes, instead of a webhook or beside it."),
  actions: named(blockName, action).describe(
    "Requests that tools, bindings, hooks and schedules make, by their names.",
  ),
  tools: named(text(64).regex(/^[A-Za-z0-9_-]+$/, "must be letters, digits, underscores or dashes"), tool).describe(
    "What agents at stations that name them may call, by their names.",
  ),
  connection: connection.nullable().default(null).describe("What its requests sign in with; null for nothing."),
  on: z
    .array(binding)
    .max(100, "must be at most 100 bindings")
    .default([])
    .describe("Bindings: actions that are run when something happens to a task of the team."),
});

export type IntegrationFields = z.output<typeof integrationSchema>;
