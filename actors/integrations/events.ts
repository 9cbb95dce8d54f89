import { z } from "zod";
import { expression } from "../expressions/schemas.js";
import { slug } from "../resources/fields.js";
import { fetchSchema, named, requestSchema, variableName } from "./request.js";

const optional = expression.nullable().default(null);

/** A mark of a kind that is set on a task. */
export const markSchema = z.strictObject({ value: expression });

const opens = z.strictObject({
  /** Key of the line, when no route of the webhook sets it; an unknown line opens nothing. */
  line: slug.nullable().default(null),
  /** Key of the station; the line's first one when it is not given. */
  station: slug.nullable().default(null),
  title: expression,
  description: optional,
  assignBy: z.strictObject({ email: expression }).nullable().default(null),
});

const attaches = z.strictObject({
  each: expression,
  name: expression,
  type: optional,
  size: optional,
  fetch: fetchSchema,
});

const raise = z.strictObject({
  say: optional,
  opens: opens.nullable().default(null),
  branch: optional,
  marks: named(slug, markSchema),
  attaches: attaches.nullable().default(null),
});

const event = z.strictObject({
  forEach: optional,
  when: optional,
  lookup: z
    .strictObject({ request: requestSchema("GET"), capture: named(variableName, expression) })
    .nullable()
    .default(null),
  raise,
});

/** What a delivery or a poll's response triggers. */
export const eventsSchema = z.array(event).min(1, "must hold at least one event").max(50, "must be at most 50 events");

export type IntegrationEvent = z.output<typeof event>;
