/**
 * Shows what a delivery would raise, and why parts would not be raised. The evaluation is the real one, but nothing is
 * stored or sent. Lookups do not run: their captures are null.
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
  say: z.string(),
  opens: z
    .strictObject({
      lineId: z.string(),
      station: z.string().nullable().describe("Null for the line's first."),
      title: z.string(),
      description: z.string(),
      assigneeEmail: z.string().nullable(),
      assignee: z.string().nullable().describe("Who on the team has that mail address; null for nobody."),
    })
    .nullable(),
  branch: z.string().nullable(),
  marks: z.array(z.strictObject({ kind: z.string(), value: z.string() })),
  channel: z.string().nullable(),
  files: z.array(z.string()).describe("The names of what would be attached."),
});

/** What a delivery would do. */
export const tryResultSchema = z
  .strictObject({
    isVerified: z.boolean().describe("Whether it would be taken: where not, it is answered 401."),
    fault: z.enum(deliveryFaults).nullable().describe("Why it is not verified, which its sender would not be told."),
    response: z.strictObject({ body: z.unknown() }).nullable().describe("What `respond` answers; nothing comes of it."),
    responseProblem: z.string().nullable().describe("Why `respond` does not answer, or with nothing."),
    key: z.string().nullable(),
    keyProblem: z.string().nullable().describe("Why `delivery` gives no key, without which each is taken as new."),
    mineProblem: z.string().nullable().describe("Why `mine` has no value: the delivery is taken as another's."),
    state: z.enum(["done", "ignored", "unrouted", "failed"]),
    reason: z.string().nullable(),
    entries: z.array(
      z.strictObject({
        event: z.int(),
        item: z.int().nullable(),
        raise: raiseSchema.nullable().describe("Null where nothing is raised."),
        outcome: z
          .enum(["opened", "said", "unmatched", "unrouted"])
          .nullable()
          .describe("What would become of it, as open tasks are now; null where nothing is raised."),
        taskId: z
          .string()
          .nullable()
          .describe("The open task with one of its marks; null for none, and for one that an entry before would open."),
        reason: z
          .string()
          .nullable()
          .describe("Why nothing is raised, what is left out, or which fields have no value."),
      }),
    ),
    isCut: z.boolean().describe("Whether there are more entries than are shown."),
  })
  .meta({ title: "delivery-try" });

type TryResult = z.output<typeof tryResultSchema>;
type TryEntry = TryResult["entries"][number];

/** An entry that raises nothing. */
const NOTHING = { raise: null, outcome: null, taskId: null } as const;
/** Maximum number of entries to show. Real deliveries process more in several steps. */
const MAX_SHOWN = 50;
/** Maximum number of skipped entries to show. */
const MAX_SKIPPED_SHOWN = 50;

interface TryScene {
  readonly reading: Reading;
  readonly sealer: Pick<Sealer, "open">;
  readonly nowMs: number;
}

/** Yields wherever other work may run. */
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
  if (entries.length === 0) return { state: "ignored", reason: "no event holds" };
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
    ...(webhook.events[event]?.lookup == null ? [] : ["its lookup is not made here: what it captures is null"]),
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
