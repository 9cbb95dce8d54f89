import type { WorkEvent } from "../events/catalogue.js";
import { type WorkEventName, workEvents } from "../events/catalogue.js";
import type { ResourceRow } from "../resources/resource.table.js";
import type { HookFields } from "./hook.js";

type Match = HookFields["match"];

const inputs = { title: "A sample" };
const tool = ({ tools }: Match) => tools[0] ?? "tracker.comment";
const repository = ({ repositories }: Match) => repositories[0] ?? "acme/app";
const changed = ["README.md"];

/** Creates the fields of each sample event, except `at`. The tool and the repository satisfy the hook's match lists. */
const samples: Readonly<Record<WorkEventName, (match: Match) => Readonly<Record<string, unknown>>>> = {
  "tool.using": (match) => ({ tool: tool(match), inputs }),
  "tool.used": (match) => ({ tool: tool(match), inputs, output: { id: "1" }, failed: false }),
  "run.starting": () => ({}),
  "run.ended": () => ({ outcome: "completed" }),
  "handover.giving": () => ({ to: "review", note: "A sample note." }),
  "pull-request.opening": (match) => ({
    repository: repository(match),
    branch: "sample",
    title: "A sample",
    changed,
  }),
  "pull-request.merged": (match) => ({
    repository: repository(match),
    url: `https://example.com/${repository(match)}/pull/1`,
    mergeCommit: "0".repeat(40),
    changed,
  }),
  "task.opened": () => ({}),
  "task.moved": () => ({ from: "work", to: "review" }),
};

/** The parts of a hook that its sample event depends on. */
interface SampledHook extends Pick<ResourceRow<HookFields>, "workspaceId" | "teamId"> {
  readonly fields: Pick<HookFields, "on" | "match">;
}

/** Creates a sample event of the hook's type, with a made-up task, marked as a test. */
export function createSampleEvent(
  { workspaceId, teamId, fields: { on, match } }: SampledHook,
  { occurrence, nowMs }: { readonly occurrence: string; readonly nowMs: number },
): WorkEvent {
  const stationKey = match.stations[0] ?? "work";
  return {
    on,
    occurrence,
    workspaceId,
    teamId: teamId ?? "",
    lineId: "line_sample",
    stationId: "sta_sample",
    task: {
      id: "task_sample",
      title: "A sample task",
      url: "",
      line: match.lines[0] ?? "dev",
      station: stationKey,
      stationKey,
      marks: {},
      repositories: [repository(match)],
      pullRequest: null,
      openedBy: { kind: "person", userId: "usr_sample" },
    },
    run: workEvents[on].inRun ? { id: "run_sample" } : null,
    event: { at: new Date(nowMs).toISOString(), ...samples[on](match) },
    causes: [],
    test: true,
  };
}
