import { z } from "zod";
import { permit, seesOutcomes } from "../../actors/access/visibility.js";
import type { Caller } from "../../actors/caller.js";
import type { HookFields } from "../../actors/hooks/hook.js";
import { type FireHook, hookOccurrenceRef } from "../../actors/hooks/hook-occurrence.messages.js";
import { findHookOccurrenceById } from "../../actors/hooks/hook-occurrence.table.js";
import { hookOccurrenceSchema, hookOccurrenceView } from "../../actors/hooks/hook-occurrence.view.js";
import { hookResenderRef, type ResendFailed } from "../../actors/hooks/resend.messages.js";
import { listFailed, type ResendPeriod } from "../../actors/hooks/resend.queries.js";
import { createSampleEvent } from "../../actors/hooks/sample-event.js";
import { invalid, isRefusal, type Refusal } from "../../actors/refusal.js";
import { findResource, findResourceAt } from "../../actors/resources/resource.table.js";
import { getTeamKey } from "../../actors/resources/resource-indexes.table.js";
import { locate } from "../../actors/resources/resource-location.table.js";
import type { Runtime } from "../../runtime/runtime.js";
import { type Answer, type Route, route } from "../route.js";
import { findFiring } from "./hook.routes.js";

const time = z.iso.datetime({ offset: true, message: "must be an RFC 3339 time" });

const periodBody = z.strictObject({
  from: time.describe("When the first of the events happened."),
  to: time.describe("Events from then on are not meant."),
  hook: z.string().optional().describe("The key of the one hook that is meant."),
});

const resending = z
  .strictObject({
    count: z.int().describe("How many are sent again, 20 a second."),
    isMore: z.boolean().describe("Whether there are more than could be counted; all of them are sent again."),
  })
  .meta({ title: "hook-resending" });

/** Firings that are counted for one answer. */
const MOST_COUNTED = 10_000;
const COUNTED_AT_ONCE = 500;

/** Firing hooks by hand: again for what happened, or with a sample. */
export function resendRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/api/teams/{teamId}/hook-occurrences/{id}/resend",
      summary: "Fire a hook again for the same event",
      access: "any",
      body: z.strictObject({}),
      answers: { 202: hookOccurrenceSchema },
      handle: ({ caller, params }) => resend(runtime, caller, params),
    }),
    route({
      method: "POST",
      path: "/api/teams/{teamId}/hook-occurrences/resend",
      summary: "Send again all that failed in a period",
      operation: "resendFailedHookOccurrences",
      description:
        "Of each firing that failed and was not sent again since with success; not what the loop guard stopped, nor " +
        "tests. They are sent 20 a second, oldest first, across restarts of the service.",
      access: "any",
      body: periodBody,
      example: { from: "2026-11-21T09:00:00Z", to: "2026-11-21T10:00:00Z" },
      answers: { 202: resending },
      handle: ({ caller, params, body }) => resendFailed(runtime, caller, params.teamId ?? "", body),
    }),
    route({
      method: "POST",
      path: "/api/hooks/{hookId}/test",
      summary: "Fire a hook on a sample of its event",
      operation: "testHook",
      description:
        "The steps run once, about no task; conditions are not asked. The default body says `test: true`, the header " +
        "`service-test` says `true`, and so does the history.",
      access: "any",
      body: z.strictObject({}),
      answers: { 202: hookOccurrenceSchema },
      handle: ({ caller, params }) => test(runtime, caller, params.hookId ?? ""),
    }),
  ];
}

async function resend(
  runtime: Runtime,
  caller: Caller,
  params: Readonly<Record<string, string>>,
): Promise<Answer | Refusal> {
  const { reading } = runtime;
  const found = findFiring(runtime, caller, params);
  if (isRefusal(found)) return found;
  const { workspaceId, firing } = found;
  const refused = permit(reading, caller, workspaceId, "configure", "hook");
  if (refused !== null) return refused;
  if (findResource(reading, workspaceId, "hook", firing.hookId) === undefined) {
    return { refused: "conflict", detail: "The hook is gone, so it cannot fire again." };
  }
  return fire(runtime, {
    type: "hook.fire",
    hookId: firing.hookId,
    work: firing.work,
    resends: firing.resends ?? firing.id,
  });
}

async function test(runtime: Runtime, caller: Caller, hookId: string): Promise<Answer | Refusal> {
  const { reading, clock } = runtime;
  const place = locate(reading, hookId);
  if (place?.kind !== "hook") return { refused: "not-found" };
  const refused = permit(reading, caller, place.workspaceId, "configure", "hook");
  if (refused !== null) return refused;
  const hook = findResource<HookFields>(reading, place.workspaceId, "hook", hookId);
  if (hook === undefined) return { refused: "not-found" };
  const work = createSampleEvent(hook, { occurrence: runtime.newId("occ"), nowMs: clock.now() });
  return fire(runtime, { type: "hook.fire", hookId, work, resends: null });
}

async function fire(runtime: Runtime, message: FireHook): Promise<Answer | Refusal> {
  const { workspaceId } = message.work;
  const id = runtime.newId("occ");
  await runtime.ask(hookOccurrenceRef(workspaceId, id), message);
  const fired = findHookOccurrenceById(runtime.reading, workspaceId, id);
  if (fired === undefined) return { refused: "not-found" };
  return { status: 202, body: hookOccurrenceView(runtime.reading, workspaceId, fired) };
}

async function resendFailed(
  runtime: Runtime,
  caller: Caller,
  teamId: string,
  body: z.output<typeof periodBody>,
): Promise<Answer | Refusal> {
  const { reading } = runtime;
  const place = locate(reading, teamId);
  if (place?.kind !== "team" || !seesOutcomes(reading, caller, place.workspaceId, teamId)) {
    return { refused: "not-found" };
  }
  const { workspaceId } = place;
  const refused = permit(reading, caller, workspaceId, "configure", "hook");
  if (refused !== null) return refused;
  const hook = body.hook ?? null;
  const period: ResendPeriod = { fromMs: Date.parse(body.from), toMs: Date.parse(body.to), hook, after: null };
  if (period.fromMs >= period.toMs) return invalid("to", "must be after from");
  if (hook !== null) {
    const at = `${getTeamKey(reading, workspaceId, teamId)}/${hook}`;
    if (findResourceAt(reading, workspaceId, "hook", at) === undefined)
      return invalid("hook", `there is no hook ${hook}`);
  }
  const counted = await count(runtime, { workspaceId, teamId }, period);
  const message: ResendFailed = { type: "hooks.resend", period };
  const answer = counted.count === 0 ? null : await runtime.ask(hookResenderRef(workspaceId, teamId), message);
  return isRefusal(answer) ? answer : { status: 202, body: counted };
}

/** Counts a slice at a time: others are served in between. */
async function count(
  { reading }: Runtime,
  team: { readonly workspaceId: string; readonly teamId: string },
  period: ResendPeriod,
): Promise<z.output<typeof resending>> {
  let sum = 0;
  let after = period.after;
  do {
    const { found, next } = listFailed(
      reading,
      team,
      { ...period, after },
      { most: COUNTED_AT_ONCE, looks: COUNTED_AT_ONCE },
    );
    sum += found.length;
    after = next;
    await new Promise((resolve) => setImmediate(resolve));
  } while (after !== null && sum < MOST_COUNTED);
  return { count: sum, isMore: after !== null };
}
