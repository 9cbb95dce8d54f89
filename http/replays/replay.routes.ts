import { z } from "zod";
import { currencySchema } from "../../actors/lines/station.js";
import { replayRef } from "../../actors/replays/replay/replay.messages.js";
import { replaySetsRef } from "../../actors/replays/sets/replay-set.messages.js";
import { MAX_CEILING } from "../../actors/replays/starting/replay-plan.js";
import { startWarningTexts } from "../../actors/replays/starting/start-warnings.js";
import type { Sealer } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { granted } from "../wire/refused.js";
import { findIdempotency, replayedHeader, replayHeaders } from "../wire/repeatable.js";
import { replaySubject, setSubject } from "../wire/replay-subjects.js";
import type { Route } from "../wire/route.js";
import { subjectRoute } from "../wire/subject-route.js";

const repeatable = { "idempotency-key": "optional" } as const;
const candidateFault = 'Candidate must be a candidate ID or "live".';
const repeatsFault = "Replay repeats must be from 1 to 5.";
const amountFault = "must be above 0 and at most 1000";

const money = z.strictObject({
  amount: z.number().describe("The amount in units of the currency, such as 1.25; not in cents."),
  currency: z.string().describe("The ISO 4217 code of the currency, such as `EUR`."),
});

/** A schema as it appears in the OpenAPI document. */
interface Documented {
  readonly jsonSchema: { default?: unknown; required?: string[] };
}

/**
 * Marks the candidate as required in the OpenAPI document. The parser itself accepts a missing candidate as an empty
 * one, and then reports its own message.
 */
function requireCandidate({ jsonSchema }: Documented): void {
  jsonSchema.required = ["candidate", "ceiling"];
}

function removeDefault({ jsonSchema }: Documented): void {
  delete jsonSchema.default;
}

const asked = z
  .strictObject({
    candidate: z.string(candidateFault).min(1, candidateFault).prefault("").meta({
      description: "The id of a proposed candidate of the set's station, or `live` for the station's current config.",
      override: removeDefault,
    }),
    ceiling: z
      .strictObject({
        amount: z
          .number("must be a number")
          .positive(amountFault)
          .max(MAX_CEILING, amountFault)
          .describe(
            "The maximum amount that the replay may spend, including all its copies. A baseline and a replay " +
              "with the answer that start with it have their own ceilings.",
          ),
        currency: currencySchema.describe("The ISO 4217 code of the currency, such as `EUR`."),
      })
      .describe("The limit on the cost of the replay."),
    repeats: z
      .int(repeatsFault)
      .min(1, repeatsFault)
      .max(5, repeatsFault)
      .default(1)
      .describe("Replays of each run of the set. A baseline that checks the set repeats each run at least 3 times."),
    oracle: z
      .boolean("must be true or false")
      .default(true)
      .describe(
        "If `false`, no replay with the answer follows the baseline that starts with this request. An existing " +
          "baseline keeps the choice of its own start.",
      ),
  })
  .meta({ override: requireCandidate });

const started = z
  .strictObject({
    id: z.string().describe("The id of the requested replay (`rep_…`)."),
    ceiling: money.describe(
      "The effective ceiling: raised in proportion to the repeats for a baseline that checks the set.",
    ),
    baseline: z
      .strictObject({
        id: z
          .string()
          .describe("The id of the baseline (`rep_…`); the same as the replay's if the replay is the baseline."),
        ceiling: money.describe("The maximum amount that the baseline may spend."),
        status: z
          .enum(["started", "starting"])
          .describe(
            "`started`: this replay is the baseline. `starting`: the baseline starts in addition to this replay.",
          ),
      })
      .nullable()
      .describe("The baseline that started; null if the set has a baseline that covers its runs."),
    oracle: z
      .strictObject({ ceiling: money.describe("The maximum amount that the replay with the answer may spend.") })
      .nullable()
      .describe(
        "The replay with the answer, which starts under this ceiling after the baseline finishes: a replay of " +
          "the baseline's config whose runs receive the answer. Null if none will start. Once started, its id is " +
          "in the set's `health.oracle`.",
      ),
    warnings: z
      .array(
        z.strictObject({
          kind: z
            .enum(["judging-not-set-up", "judging-outside-ceiling", "other-currency"])
            .describe("The kind of warning, for programs."),
          text: z.string().describe("The warning in one sentence, for people."),
        }),
      )
      .describe(
        "At a station with a judge. `judging-not-set-up`: the service has no model, so no copy is scored. " +
          "`judging-outside-ceiling`: the model has no price in the ceiling's currency, so judging costs do not " +
          "count against a ceiling. At any station: `other-currency`: every run of the set that reported a cost " +
          "used another currency than the ceiling. Such a copy counts as a share of the ceiling: the ceiling " +
          "divided by the number of copies.",
      ),
  })
  .meta({ title: "started-replay", description: "A started replay, and the replays that start with or after it." });

interface ReplayRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

/** The routes that start and stop replays, for callers who may plan. */
export function replayRoutes({ runtime, sealer }: ReplayRoutesOptions): readonly Route[] {
  return [
    subjectRoute(setSubject(runtime, "plan"), {
      method: "POST",
      path: "/api/teams/{teamId}/replay-sets/{setId}/replays",
      isCheckedFirst: true,
      summary: "Start a replay of a set",
      description:
        "If the set has no baseline that covers its runs, a replay of the live config starts as baseline, with " +
        "its own ceiling. The first baseline of a config over 5 runs or more checks the set: it repeats each run " +
        "at least 3 times, and judges and checks changes again. Its ceiling rises in proportion to the repeats, " +
        "up to 1000. If a check or a judge scores, a replay with the answer follows a finished baseline: its " +
        "runs receive the outcome that they should have had, which shows the maximum gain; `oracle: false` " +
        "disables it. Each of the three spends up to its own ceiling, which the response has. A set keeps at " +
        "most 200 replays: starting another removes the oldest ended ones, but not the baseline, nor replays " +
        "that the set's health names, nor replays that another replay is compared with or answers. The start is " +
        "refused (409) if none can be removed.",
      access: "any",
      body: asked,
      example: { candidate: "live", ceiling: { amount: 20, currency: "EUR" }, repeats: 3 },
      headers: repeatable,
      answers: { 201: { body: started, headers: replayedHeader } },
      problems: ["conflict"],
      handle: async (request, { workspaceId, teamId, set: { id: setId } }) => {
        const { caller, client, body } = request;
        const idempotency = findIdempotency(sealer, request, `replay.start ${setId}`);
        const message = { type: "replay.start", caller, client, setId, ...body, idempotency } as const;
        const made = granted(await runtime.ask(replaySetsRef(workspaceId, teamId), message));
        const { replayId: id, ceiling, baseline, oracle, warnings, replayed } = made;
        const answer = {
          id,
          ceiling,
          baseline,
          oracle,
          warnings: warnings.map(({ kind }) => ({ kind, text: startWarningTexts[kind] })),
        };
        return { status: 201, body: answer, headers: replayHeaders(replayed) };
      },
    }),
    subjectRoute(replaySubject(runtime, "plan"), {
      method: "POST",
      path: "/api/teams/{teamId}/replays/{replayId}/stop",
      summary: "Stop a replay",
      description:
        "Withdraws its runs. Settled results remain; copies that did not start keep the state `waiting` and have " +
        "no result. A baseline that started with it, and a replay with the answer, continue: stop each by its " +
        "own id. A replay with the answer that has started is in the set's `health.oracle`; none starts after a " +
        "stopped baseline.",
      access: "any",
      headers: repeatable,
      answers: { 204: { body: null, headers: replayedHeader } },
      problems: ["conflict"],
      handle: async (request, { workspaceId, replay: { id } }) => {
        const { caller, client } = request;
        const idempotency = findIdempotency(sealer, request, `replay.stop ${id}`);
        const message = { type: "replay.stop", caller, client, idempotency } as const;
        const { replayed } = granted(await runtime.ask(replayRef(workspaceId, id), message));
        return { status: 204, headers: replayHeaders(replayed) };
      },
    }),
  ];
}
