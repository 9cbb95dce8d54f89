import { z } from "zod";
import type { VisibleTeam } from "../../actors/access/members/team.queries.js";
import { toResend, toResendPeriod, toTest } from "../../actors/hooks/fire-by-hand.js";
import { type FireHook, hookOccurrenceRef } from "../../actors/hooks/hook-occurrence.messages.js";
import { findTeamHookOccurrence } from "../../actors/hooks/hook-occurrence.queries.js";
import { currentHookOccurrence, currentHookOccurrenceSchema } from "../../actors/hooks/hook-occurrence.view.js";
import { hookResenderRef } from "../../actors/hooks/resend.messages.js";
import { countFailed, type ResendCount, type ResendPeriod } from "../../actors/hooks/resend.queries.js";
import type { Runtime } from "../../runtime/runtime.js";
import { granted } from "../wire/refused.js";
import { type Answer, type Route, type RouteRequest, route } from "../wire/route.js";
import { teamRoute } from "../wire/team-route.js";

const time = z.iso.datetime({ offset: true, message: "must be an RFC 3339 time" });

const periodBody = z.strictObject({
  from: time.describe("Start of the period, by the time of the events."),
  to: time.describe("End of the period, exclusive."),
  hook: z.string().optional().describe("The key of a hook; limits the request to its firings."),
});

const resending = z
  .strictObject({
    count: z.int().describe("Number of firings to resend, 20 per second."),
    isMore: z.boolean().describe("Whether the count is incomplete; the service resends all firings."),
  })
  .meta({ title: "hook-resending" });

/** The routes that fire hooks manually: again for past events, or once with a sample event. */
export function resendRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    teamRoute(runtime, "outcomes", {
      method: "POST",
      path: "/api/teams/{teamId}/hook-occurrences/{id}/resend",
      summary: "Fire a hook again for the same event",
      description:
        "Requires `configure`. Uses the hook's current steps. The response is the new firing at its start; its " +
        "history shows the outcome.",
      access: "any",
      body: z.strictObject({}),
      answers: { 202: currentHookOccurrenceSchema },
      handle: ({ caller, params }, team) =>
        fire(runtime, granted(toResend(runtime.reading, caller, team, params.id ?? ""))),
    }),
    teamRoute(runtime, "outcomes", {
      method: "POST",
      path: "/api/teams/{teamId}/hook-occurrences/resend",
      summary: "Resend all failed firings of a period",
      operation: "resendFailedHookOccurrences",
      description:
        "Resends each failed firing that was not resent successfully since. Excludes tests and firings that the " +
        "loop guard stopped. Sends 20 per second, oldest first, and continues after a restart of the service.",
      access: "any",
      body: periodBody,
      example: { from: "2026-11-21T09:00:00Z", to: "2026-11-21T10:00:00Z" },
      answers: { 202: resending },
      handle: async ({ caller, body, pause }, team) => {
        const period = granted(toResendPeriod(runtime.reading, caller, team, body));
        const counted = await countInSlices(runtime, pause, team, period);
        if (counted.count > 0) await resendFailed(runtime, team, period);
        return { status: 202, body: counted };
      },
    }),
    route({
      method: "POST",
      path: "/api/hooks/{hookId}/test",
      summary: "Test a hook with a sample event",
      operation: "testHook",
      description:
        "Runs the steps once, without a task and without checking conditions. The default body contains `test: " +
        "true`, the `service-test` header is `true`, and the history marks the firing as a test. The response is " +
        "the firing at its start; the history shows its outcome.",
      access: "any",
      body: z.strictObject({}),
      answers: { 202: currentHookOccurrenceSchema },
      handle: ({ caller, params }) => {
        const sample = { occurrence: runtime.newId("occ"), nowMs: runtime.clock.now() };
        return fire(runtime, granted(toTest(runtime.reading, caller, params.hookId ?? "", sample)));
      },
    }),
  ];
}

async function fire(runtime: Runtime, message: FireHook): Promise<Answer> {
  const { reading } = runtime;
  const { workspaceId } = message.work;
  const id = runtime.newId("occ");
  await runtime.ask(hookOccurrenceRef(workspaceId, id), message);
  const { hookOccurrence } = granted(findTeamHookOccurrence(reading, message.work, id));
  return { status: 202, body: currentHookOccurrence(runtime, workspaceId, hookOccurrence) };
}

async function resendFailed(
  runtime: Runtime,
  { workspaceId, teamId }: VisibleTeam,
  period: ResendPeriod,
): Promise<void> {
  granted(await runtime.ask(hookResenderRef(workspaceId, teamId), { type: "hooks.resend", period }));
}

/** Counts the failed firings of a period in slices, and lets other requests run in between. */
async function countInSlices(
  { reading }: Runtime,
  pause: RouteRequest["pause"],
  team: VisibleTeam,
  period: ResendPeriod,
): Promise<ResendCount> {
  let counted: ResendCount = { count: 0, isMore: false };
  for (const count of countFailed(reading, team, period)) {
    counted = count;
    await pause();
  }
  return counted;
}
