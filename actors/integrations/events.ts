import { z } from "zod";
import { expression } from "../expressions/schemas.js";
import { slug } from "../resources/fields.js";
import { fetchSchema, named, requestSchema, variableName } from "./request.js";

const optional = expression.nullable().default(null);

/** The value of one mark that is set on a task. */
export const markSchema = z.strictObject({
  value: expression.describe("The external object that the task is about; without a value there is no mark."),
});

const opens = z.strictObject({
  line: slug
    .nullable()
    .default(null)
    .describe("Key of the line; the route's line if null. An unknown line opens no task."),
  station: slug
    .nullable()
    .default(null)
    .describe("Key of the station; if null, the route's station, or else the line's first."),
  title: expression.describe("The task's title; `Untitled` without a value."),
  description: optional.describe("Description of the new task, as text; empty if null."),
  assignBy: z
    .strictObject({
      email: expression.describe("The email address of a team member. Any other address assigns nobody."),
    })
    .nullable()
    .default(null)
    .describe("The assignee of the task; null for none."),
});

const attaches = z.strictObject({
  each: expression.describe("A list of files; the fields below read each one as `file`."),
  name: expression.describe("The file's name; everything up to the last slash is removed."),
  type: optional.describe("Media type of the file, such as `image/png`; taken from the response if null."),
  size: optional.describe("Its size in bytes."),
  fetch: fetchSchema.describe("The request that downloads the file."),
});

const raise = z.strictObject({
  say: optional.describe(
    "The note for a task that is already open, as text. The note never answers the task's question. The event " +
      "that opens a task adds no note: its text is in `opens.title` and `opens.description`.",
  ),
  opens: opens
    .nullable()
    .default(null)
    .describe("The task to open if no open task has one of the marks; null opens none."),
  branch: optional.describe("The branch that the task's runs start from."),
  marks: named(slug, markSchema).describe(
    "The marks of the event. An open task of the team with one of them gets the note; a new task gets all of them.",
  ),
  attaches: attaches
    .nullable()
    .default(null)
    .describe("Files to attach to the task: at most 20, 10 MiB each, 50 MiB in total."),
});

const event = z.strictObject({
  forEach: optional.describe(
    "A list. The service tries the event for each entry, read as `item`; at most 1,000 entries.",
  ),
  when: optional.describe("Whether the event happened; null for always."),
  lookup: z
    .strictObject({
      request: requestSchema("GET").describe("Request for the missing data, sent before `raise`."),
      capture: named(variableName, expression).describe("Values from the answer that `raise` reads by name."),
    })
    .nullable()
    .default(null)
    .describe("Requests data that the delivery does not contain."),
  raise: raise.describe("The effect of the event."),
});

/** The events that a delivery or poll response can raise. */
export const eventsSchema = z.array(event).min(1, "must have at least one event").max(50, "must be at most 50 events");

export type IntegrationEvent = z.output<typeof event>;
