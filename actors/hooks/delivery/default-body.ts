import { z } from "zod";
import type { WorkEvent, WorkEventName } from "../../events/catalogue.js";
import { workEvents } from "../../events/catalogue.js";
import { eventFieldsSchema, eventTaskSchema } from "../../events/event-schema.js";

/** The body of a request whose step defines no body. */
interface DefaultBody extends Pick<WorkEvent, "on" | "occurrence" | "event" | "task" | "run" | "test"> {
  /** The hook's key. */
  readonly hook: string;
}

/**
 * Returns the body of a request whose step defines no body. Events that an earlier release stored may lack the task's
 * opener. The opener in the body is then null.
 */
export function toDefaultBody(hook: string, { event, occurrence, on, task: given, run, test }: WorkEvent): DefaultBody {
  const task = given.openedBy === undefined ? { ...given, openedBy: null } : given;
  return { hook, on, occurrence, event, task, run, test };
}

/**
 * Returns the schema of the default body on an event. The schema has all fields that the service sends, and allows no
 * others.
 */
export function defaultBodySchema(on: WorkEventName): z.ZodObject {
  const run = z.strictObject({ id: z.string().describe("The id of the run (`run_…`).") });
  const shape = {
    hook: z.string().describe("The key of the hook that sends this request."),
    on: z.literal(on).describe("The name of the event, as in the hook's `on`."),
    occurrence: z.string().describe("The event's id. All hooks on one event get the same id."),
    event: eventFieldsSchema(on),
    task: eventTaskSchema,
    run: workEvents[on].inRun
      ? run.describe("The run in which the event happens.")
      : z.null().describe("Always null: the event happens outside a run."),
    test: z.literal(true).optional().describe("True in a test (`signalbox hook test`), else absent."),
  } satisfies Record<keyof DefaultBody, z.ZodType>;
  return z.strictObject(shape);
}
