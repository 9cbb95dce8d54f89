import { z } from "zod";
import type { Type } from "../expressions/cel-types.js";
import { shownOpenerSchema } from "../opener.js";
import { type EventTask, type WorkEventName, type WorkEventRule, workEvents } from "./catalogue.js";

/** Text about an event for people who write hooks. */
interface EventText<Field extends string> {
  /** When the event happens. */
  readonly when: string;
  /** The event's own fields. */
  readonly fields: Readonly<Record<Field, string>>;
}

const tool = "The called tool, as `<integration>.<tool>`.";
const inputs = "The inputs of the call: by name, with defaults filled in.";
const repository = "The pull request's repository, `owner/name`.";

/** What each event and its fields mean. Names and types are in the catalogue; a missing text is a type error. */
export const eventTexts: {
  readonly [Name in WorkEventName]: EventText<keyof (typeof workEvents)[Name]["fields"] & string>;
} = {
  "tool.using": { when: "Before an agent's call of an integration's tool.", fields: { tool, inputs } },
  "tool.used": {
    when: "After an agent's call of an integration's tool, also if the call failed or may not have arrived.",
    fields: {
      tool,
      inputs,
      output: "The tool's output; of a failed call, the response, or null if there was none.",
      failed: "Whether the call failed. A failed call may still have had an effect.",
    },
  },
  "run.starting": { when: "Before a run starts that a runner has claimed.", fields: {} },
  "run.ended": {
    when: "After a run ends.",
    fields: {
      outcome: "`completed`, `failed`, `stopped`, `abandoned`, `withdrawn` or `superseded`.",
    },
  },
  "handover.giving": {
    when: "Before an agent hands its task over to another station.",
    fields: {
      to: "The key of the station that gets the task.",
      note: "The agent's message to the next station; may be empty.",
    },
  },
  "pull-request.opening": {
    when: "Before changes are pushed to the branch of a new or open pull request.",
    fields: {
      repository,
      changed: "The paths that the pushed changes add, change or delete.",
      branch: "The branch that the changes are pushed to.",
      title: "The title of the pull request.",
    },
  },
  "pull-request.merged": {
    when: "After a task's pull request is merged.",
    fields: {
      repository,
      changed: "The paths that the pull request changed.",
      url: "The address of the pull request's page at the code host.",
      mergeCommit: "The id of the merge commit; empty if the code host did not report it.",
    },
  },
  "task.opened": { when: "After a task is opened.", fields: {} },
  "task.moved": {
    when: "After a task moves to another station.",
    fields: {
      from: "The key of the station that the task left.",
      to: "The key of the station that the task is at now.",
    },
  },
};

/** Returns the schema of an event's `event` object: `at`, and the event's fields in the catalogue. */
export function eventFieldsSchema(on: WorkEventName): z.ZodObject {
  const { fields }: WorkEventRule = workEvents[on];
  const { fields: texts }: EventText<string> = eventTexts[on];
  const own = Object.entries(fields).map(([name, type]) => [name, toSchema(type).describe(texts[name] ?? "")]);
  const at = z.string().describe("When the event happened, or was about to happen: ISO 8601, UTC.");
  return z
    .strictObject({ at, ...Object.fromEntries(own) })
    .describe("The event's own fields; expressions read them as `event`.");
}

/** Returns the schema of the JSON values of a field's CEL type. Throws for a type that no event field has. */
function toSchema(type: Type): z.ZodType {
  switch (type.kind) {
    case "string":
      return z.string();
    case "bool":
      return z.boolean();
    case "dyn":
      return z.unknown();
    case "list":
      return z.array(toSchema(type.element));
    case "map":
      return z.record(z.string(), toSchema(type.value));
    default:
      throw new Error(`event fields of the type ${type.kind} have no schema`);
  }
}

/** The fields of a task in events, hook bodies and callbacks. */
export const eventTaskShape = {
  id: z.string().describe("The id of the task (`task_…`)."),
  title: z.string().describe("The work to do, in one line."),
  url: z.string().describe("The address where the task comes from, such as an issue; empty for none."),
  line: z.string().describe("The key of the task's line; empty if the line was deleted."),
  station: z.string().describe("The display name of the task's current station."),
  stationKey: z.string().describe("The key of the task's current station."),
  marks: z
    .record(z.string(), z.string())
    .describe("The external objects that the task is about: the value of each mark, by kind."),
  repositories: z.array(z.string()).describe("The repositories of the line, each as `owner/name`."),
  pullRequest: z.string().nullable().describe("The address of the task's pull request; null if there is none."),
  openedBy: shownOpenerSchema.nullable().describe("Who opened the task; null if that is unknown."),
} satisfies Record<keyof EventTask, z.ZodType>;

/** A task in events and hook bodies. */
export const eventTaskSchema = z.strictObject(eventTaskShape).meta({
  title: "event-task",
  description: "The task that the event is about, as it was at the time of the event.",
});
