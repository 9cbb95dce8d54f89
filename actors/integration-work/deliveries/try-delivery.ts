/**
 * Shows what a delivery would raise, and why parts would not be raised. The delivery is evaluated as usual, but nothing
 * is stored or sent. Lookups do not run, so their captures are null.
 */
import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import type { Sealer } from "../../sealer.js";
import { type ForeseenRaise, ForeseenRaises } from "../../tasks/foreseen-raise.js";
import { toBranchName } from "../../tasks/raised-values.js";
import type { RaisedOpening } from "../../tasks/team-marks.messages.js";
import type { ReceivedDelivery } from "../intake/received-delivery.js";
import {
  type DeliveryReceiver,
  findKeyProblem,
  findMineProblem,
  findResponseProblem,
  findSenderFault,
  respondTo,
  toDeliveryKey,
  withoutCredential,
} from "../intake/take-delivery.js";
import { deliveryFaults } from "../intake/verify-delivery.js";
import type { DeliveryEntry } from "./delivery.js";
import { evaluateDelivery } from "./evaluate-delivery.js";
import { type EvaluatedEntry, FIRST_PLACE, MAX_DELIVERY_UNITS } from "./evaluated-delivery.js";
import { toEventPlaces } from "./event-places.js";

const raiseSchema = z.strictObject({
  say: z.string().describe("The note for a task that is already open; empty for none."),
  opens: z
    .strictObject({
      lineId: z.string().describe("The line of the new task."),
      station: z
        .string()
        .nullable()
        .describe("The key of the station where the task starts; null for the line's first station."),
      title: z.string().describe("The title of the new task, cut to 300 characters."),
      description: z.string().describe("The description of the new task; empty for none."),
      assigneeEmail: z.string().nullable().describe("The mail address that the event assigns to; null for none."),
      assignee: z.string().nullable().describe("The team member with that email address; null if there is none."),
    })
    .nullable()
    .describe("The task that the event opens if no open task has one of the marks; null if it opens none."),
  branch: z.string().nullable().describe("The branch at which the new task's runs start; null for the default branch."),
  marks: z
    .array(
      z.strictObject({
        kind: z.string().describe("The kind of the mark, as in the definition."),
        value: z.string().describe("The external object that the mark names."),
      }),
    )
    .describe("The marks that identify the task; a new task gets all of them."),
  channel: z.string().nullable().describe("The channel of the route that matches; null without such a route."),
  files: z.array(z.string()).describe("The names of the files that would be attached."),
});

/** What a delivery would do. */
export const tryResultSchema = z
  .strictObject({
    isVerified: z.boolean().describe("Whether the service would accept the delivery. If not, it answers 401."),
    fault: z.enum(deliveryFaults).nullable().describe("Why verification fails. The sender does not see this."),
    response: z
      .strictObject({ body: z.unknown().describe("The body of the response: text as it is, anything else as JSON.") })
      .nullable()
      .describe("The response of `respond`. The service does nothing else with the delivery."),
    responseProblem: z.string().nullable().describe("Why `respond` does not answer, or why its response is empty."),
    key: z.string().nullable().describe("The value of `delivery`, which identifies repetitions; null for none."),
    keyProblem: z
      .string()
      .nullable()
      .describe("Why `delivery` has no key. Without a key, every delivery counts as new."),
    mineProblem: z
      .string()
      .nullable()
      .describe("Why `mine` has no value. The service then treats the delivery as caused by others."),
    state: z
      .enum(["done", "ignored", "unrouted", "failed"])
      .describe("The state in which the delivery would end, as in a delivery."),
    reason: z.string().nullable().describe("Why the delivery would end in this state; null if it would be done."),
    entries: z
      .array(
        z.strictObject({
          event: z.int().describe("The index of the event in the definition, from 0."),
          item: z
            .int()
            .nullable()
            .describe("The index of the entry in `forEach`; null for an event without `forEach`."),
          raise: raiseSchema.nullable().describe("The values that the event raises; null if nothing is raised."),
          outcome: z
            .enum(["opened", "said", "unmatched", "unrouted"])
            .nullable()
            .describe("The outcome with the tasks that are open now; null if nothing is raised."),
          taskId: z
            .string()
            .nullable()
            .describe(
              "The open task with one of its marks; null if there is none, or if an earlier entry would open it.",
            ),
          reason: z
            .string()
            .nullable()
            .describe("Why no task is raised, which entries are skipped, or which fields have no value."),
        }),
      )
      .describe("The first 50 entries that raise something or fail, and the first 50 that no `when` accepts."),
    isCut: z.boolean().describe("Whether there are more entries than shown."),
  })
  .meta({ title: "delivery-try" });

type TryResult = z.output<typeof tryResultSchema>;
type TryEntry = TryResult["entries"][number];

/** An entry that raises nothing. */
const NOTHING = { raise: null, outcome: null, taskId: null } as const;
/**
 * Maximum number of entries with a result to show. A real delivery can have more entries, which the service evaluates
 * in several steps.
 */
const MAX_SHOWN = 50;
/** Maximum number of skipped entries to show. */
const MAX_SKIPPED_SHOWN = 50;

interface TryScene {
  readonly reading: Reading;
  readonly sealer: Pick<Sealer, "open">;
  readonly nowMs: number;
}

/** Evaluates a delivery without storing or sending anything. Yields wherever other work may run. */
export function* tryDelivery(
  receiver: DeliveryReceiver,
  given: ReceivedDelivery,
  { reading, sealer, nowMs }: TryScene,
): Generator<void, TryResult> {
  const { fields } = receiver.integration;
  const skipped: TryEntry[] = [];
  let leftOut = 0;
  const fault = findSenderFault(reading, receiver, given, { sealer, nowMs });
  const received = withoutCredential(receiver, given);
  const known = {
    isVerified: fault === null,
    fault,
    response: respondTo(receiver, received),
    responseProblem: findResponseProblem(receiver, received),
    key: toDeliveryKey(receiver, received),
    keyProblem: findKeyProblem(receiver, received),
    mineProblem: findMineProblem(receiver, received),
  };
  const evaluated = yield* evaluateDelivery({
    fields,
    block: "webhook",
    received,
    places: toEventPlaces(reading, receiver.integration),
    from: FIRST_PLACE,
    captures: null,
    units: MAX_DELIVERY_UNITS,
    entriesLeft: MAX_SHOWN,
    leavesOutLookups: true,
    skipped: (entry, reason) => {
      if (skipped.length < MAX_SKIPPED_SHOWN) skipped.push({ ...entry, ...NOTHING, reason });
      else leftOut += 1;
    },
  });
  if (evaluated.kind === "over") {
    return { ...known, state: evaluated.state, reason: evaluated.reason, entries: [], isCut: false };
  }
  const { workspaceId, teamId } = receiver.integration;
  const foreseen = new ForeseenRaises(reading, { workspaceId, teamId: teamId ?? "" });
  const raised = evaluated.entries.map((entry) => toTryEntry(receiver, entry, foreseen));
  const entries = [...raised, ...skipped].sort(
    (left, right) => left.event - right.event || placeIn(left) - placeIn(right),
  );
  return {
    ...known,
    ...toState(raised),
    entries,
    isCut: evaluated.next !== null || leftOut > 0,
  };
}

const placeIn = ({ item }: Pick<DeliveryEntry, "item">) => item ?? Number.POSITIVE_INFINITY;

function toState(entries: readonly TryEntry[]): Pick<TryResult, "state" | "reason"> {
  if (entries.length === 0) return { state: "ignored", reason: "no event matches" };
  const outcomes = entries.flatMap(({ outcome }) => outcome ?? []);
  if (outcomes.some((outcome) => outcome !== "unrouted")) return { state: "done", reason: null };
  if (outcomes.length > 0) return { state: "unrouted", reason: "its entries have no line" };
  return { state: "failed", reason: "its entries failed" };
}

function toShownOpening(raised: RaisedOpening | null, foreseen: ForeseenRaise["opens"]) {
  if (raised === null || foreseen === null) return null;
  const { lineId, station, description, assigneeEmail } = raised;
  return { lineId, station, title: foreseen.title, description, assigneeEmail, assignee: foreseen.assignee };
}

function toTryEntry({ webhook }: DeliveryReceiver, entry: EvaluatedEntry, foreseen: ForeseenRaises): TryEntry {
  const { event, item } = entry;
  if (!("raise" in entry)) return { event, item, ...NOTHING, reason: entry.reason };
  const { say, opens, branch, channel, attaches, unrouted, note } = entry.raise;
  const { outcome, taskId, marks, ...foreseenTask } = foreseen.next(entry.raise);
  const notes = [
    ...(webhook.events[event]?.lookup == null ? [] : ["a trial sends no lookup: its captures are null"]),
    ...(unrouted === null ? [] : [`opens nothing: ${unrouted}`]),
    ...(note === null ? [] : [note]),
  ];
  return {
    event,
    item,
    reason: notes.length === 0 ? null : notes.join("; "),
    outcome: outcome === "unmatched" && unrouted !== null ? "unrouted" : outcome,
    taskId,
    raise: {
      say,
      channel,
      marks: marks.map((mark) => ({ ...mark })),
      branch: branch === null ? null : toBranchName(branch),
      opens: toShownOpening(opens, foreseenTask.opens),
      files: attaches?.files.map(({ name }) => name) ?? [],
    },
  };
}
