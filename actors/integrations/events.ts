import { z } from "zod";
import { expression } from "../expressions/schemas.js";
import { slug } from "../resources/fields.js";
import { fetchSchema, named, requestSchema, variableName } from "./request.js";

const optional = expression.nullable().default(null);

/** The value of one mark that is set on a task. */
export const markSchema = z.strictObject({
  value: expression.describe(
    "The one thing of the other side that the task is about; without a value there is no mark.",
  ),
});

const opens = z.strictObject({
  line: slug
    .nullable()
    .default(null)
    .describe("Key of the line; the route's where it is null. An unknown line opens nothing."),
  station: slug
    .nullable()
    .default(null)
    .describe("Key of the station; the route's where it is null, else the line's first one."),
  title: expression.describe("The task's title; `Untitled` without a value."),
  description: optional.describe("The task's description."),
  assignBy: z
    .strictObject({ email: expression.describe("The address of a member on the team; anybody else assigns nobody.") })
    .nullable()
    .default(null)
    .describe("Whom the task is assigned to; null for nobody."),
});

const attaches = z.strictObject({
  each: expression.describe("A list of files; each is `file` in the fields below."),
  name: expression.describe("The file's name; what stands before its last slash is left out."),
  type: optional.describe("Its media type."),
  size: optional.describe("Its size in bytes."),
  fetch: fetchSchema.describe("The request whose answer is the file."),
});

const raise = z.strictObject({
  say: optional.describe(
    "The note for a task that is already open, as text; never the answer to what it asks. The event that opens a task " +
      "adds no note: its words are `opens.title` and `opens.description`.",
  ),
  opens: opens
    .nullable()
    .default(null)
    .describe("The task that is opened where no open task has one of the marks; null opens none."),
  branch: optional.describe("The branch that the task's runs start from."),
  marks: named(slug, markSchema).describe(
    "What the event is about: an open task of the team with one of them is told, and a task that it opens gets them.",
  ),
  attaches: attaches.nullable().default(null).describe("Files that the task gets: 20, of 10 MiB each, 50 MiB in all."),
});

const event = z.strictObject({
  forEach: optional.describe("A list: the event is tried for each of its entries, which is `item`; 1,000 at most."),
  when: optional.describe("Whether the event happened; null for always."),
  lookup: z
    .strictObject({
      request: requestSchema("GET"),
      capture: named(variableName, expression).describe("Values taken from the answer, which `raise` sees by name."),
    })
    .nullable()
    .default(null)
    .describe("Asks the other side for what a delivery leaves out."),
  raise: raise.describe("What comes of it."),
});

/** The events that a delivery or poll response can raise. */
export const eventsSchema = z.array(event).min(1, "must hold at least one event").max(50, "must be at most 50 events");

export type IntegrationEvent = z.output<typeof event>;
