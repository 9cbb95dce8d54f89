import { z } from "zod";
import type { WorkEvent } from "../../actors/events/catalogue.js";
import { MAX_STORED_EVENTS } from "../../actors/events/catalogue.js";
import { eventsPrunedBefore, findEvent, listLatestEvents } from "../../actors/events/event-log.queries.js";
import { workEventName } from "../../actors/hooks/hook.js";
import { type HookMatches, hookMatchSchema, listHookMatches } from "../../actors/hooks/matching/not-fired.view.js";
import { readListPage } from "../../actors/tables/list-page.js";
import { defineView, type Shown } from "../../actors/view.js";
import type { Runtime } from "../../runtime/runtime.js";
import { cursor, idCursor, nextPage, pageSize, prunedBefore } from "../wire/paging.js";
import type { Route } from "../wire/route.js";
import { teamRoute } from "../wire/team-route.js";

const eventSchema = z
  .strictObject({
    occurrence: z.string().describe("The id of the event (`occ_…`)."),
    on: z.string().describe("The name of the event, such as `task.finished`."),
    taskId: z.string().describe("The task that the event is about."),
    runId: z.string().nullable().describe("The run that the event is about; null if it is about no run."),
    event: z
      .looseObject({ at: z.string().describe("When the event happened, as an RFC 3339 time.") })
      .describe("The event's own fields, as hook bodies contain them; they depend on its name."),
    causes: z.array(z.string()).describe("The events and firings that caused the event, oldest first."),
  })
  .meta({ title: "work-event" });

const eventMatchesSchema = eventSchema
  .extend({
    hooks: z.array(hookMatchSchema).describe("The result for each hook of the team, by the hook's key."),
    next: nextPage("after"),
  })
  .meta({ title: "event-verdicts" });

/** Formats a count with thousands separators: `10,000`. Avoids `Intl`, whose locale data takes long to load. */
function withThousands(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** The routes for the events of a team's tasks, and for how each hook matched an event. */
export function eventRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  const { reading } = runtime;
  return [
    teamRoute(runtime, "outcomes", {
      method: "GET",
      path: "/api/teams/{teamId}/events",
      summary: "List the latest events of a team's tasks, newest first",
      description:
        `The service stores the latest ${withThousands(MAX_STORED_EVENTS)} events, and as many tool call ` +
        "events. For inputs and outputs that `cut` names, it stores only the start. A before event is recorded " +
        "before its action takes place.",
      access: "any",
      query: z.strictObject({
        event: workEventName.optional().describe("Returns only events with this name, such as `task.finished`."),
        task: z.string().optional().describe("Returns only events about the task with this id."),
        before: idCursor("occ"),
        limit: pageSize(),
      }),
      answers: {
        200: z.strictObject({
          items: z.array(eventSchema).describe("The events of this page, newest first."),
          next: nextPage("before"),
          prunedBefore,
        }),
      },
      handle: ({ query }, team) => {
        const { rows, next } = readListPage(
          query,
          (page) => listLatestEvents(reading, team, page),
          ({ occurrence }) => occurrence,
        );
        const pruned = next === null ? eventsPrunedBefore(reading, team.workspaceId, runtime.clock.now()) : null;
        return { status: 200, body: { items: rows.map(eventView), next, prunedBefore: pruned } };
      },
    }),
    teamRoute(runtime, "outcomes", {
      method: "GET",
      path: "/api/teams/{teamId}/events/{occurrence}/hooks",
      summary: "Read why each of a team's hooks fired on an event, or did not fire",
      description:
        "Lists hooks by key, each with the firing that the event caused, or with the first condition that did " +
        "not match and the values it saw. Uses each hook's current conditions.",
      access: "any",
      query: z.strictObject({
        after: cursor.optional().describe("Returns the hooks with keys after this one."),
        limit: pageSize(),
      }),
      answers: { 200: eventMatchesSchema },
      handle: ({ params, query }, team) => {
        const work = findEvent(reading, team.workspaceId, team.teamId, params.occurrence ?? "");
        if (work === undefined) return { refused: "not-found" };
        return { status: 200, body: eventMatchesView(work, listHookMatches(reading, work, query)) };
      },
    }),
  ];
}

const eventView = defineView<WorkEvent>()(eventSchema, {
  taskId: ({ task }) => task.id,
  runId: ({ run }) => run?.id ?? null,
});

function eventMatchesView(work: WorkEvent, { hooks, next }: HookMatches): Shown<typeof eventMatchesSchema> {
  return { ...eventView(work), hooks, next };
}
