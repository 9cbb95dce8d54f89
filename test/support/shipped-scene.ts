import type { Test } from "tap";
import type { RunnerPeer } from "./runner-peer.js";
import { createShipped, shippedIntegration } from "./shipped-integrations.js";
import { openWorkplace, type Workplace } from "./workplace.js";

interface ToolInputs {
  readonly [name: string]: unknown;
}

interface Claim {
  readonly runId: string;
  readonly fence: number;
}

/** A service with a shipped integration and the line `fix`, whose agent may call the named tools. */
export interface ShippedScene extends Workplace {
  readonly integrationId: string;
  readonly deliveriesUrl: string;
  /** Returns the tasks, newest first. */
  tasks(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Waits for a task whose title matches, and resolves with this task. */
  opened(title: RegExp): Promise<Readonly<Record<string, unknown>> & { readonly id: string }>;
  /** Calls a tool of the integration as a run's agent; resolves with the answer. */
  call(peer: RunnerPeer, claim: Claim, tool: string, inputs?: ToolInputs): ReturnType<typeof callTool>;
}

export async function openShipped(
  t: Test,
  shipped: {
    readonly file: string;
    /** The definition's own hosts, and their addresses in this test. */
    readonly hosts: Readonly<Record<string, string>>;
    readonly secrets: Readonly<Record<string, string>>;
    readonly tools: readonly string[];
    /** The channels or repositories that a person enters according to the page, instead of the example's. */
    readonly written?: Readonly<Record<string, string>>;
  },
): Promise<ShippedScene> {
  const allowed = [...new Set(Object.values(shipped.hosts))].map((host) => `http://${host}`);
  const place = await openWorkplace(t, { settings: { OUTBOUND_ALLOW: allowed.join(",") } });
  const { ada, teamId } = place;
  const made = await createShipped(ada, place, shippedIntegration(shipped.file, shipped.hosts), shipped.secrets);
  const stations = [{ key: "work", name: "Work", kind: "work", runners: { pool: "main" }, tools: shipped.tools }];
  await ada.create(`/api/resources/teams/${teamId}/lines`, { key: "fix", name: "Fix", stations });
  const tasks = async () => {
    const { body } = await ada.request("GET", `/api/teams/${teamId}/tasks?limit=200`);
    return (body?.items ?? []) as readonly Readonly<Record<string, unknown>>[];
  };
  const opened = async (title: RegExp) => {
    const find = async () => (await tasks()).find((task) => title.test(String(task.title)));
    await place.when(`team/${teamId}`, async () => (await find()) !== undefined);
    const id = String((await find())?.id);
    return { ...(await place.task(id)), id };
  };
  let calls = 0;
  return {
    ...place,
    integrationId: made.id,
    deliveriesUrl: String(made.deliveriesUrl),
    tasks,
    opened,
    call: (peer, claim, tool, inputs = {}) => {
      calls += 1;
      return callTool(peer, claim, { id: `call-${calls}`, server: String(made.integration), tool, inputs });
    },
  };
}

async function callTool(
  peer: RunnerPeer,
  { runId, fence }: Claim,
  {
    inputs,
    ...called
  }: { readonly id: string; readonly server: string; readonly tool: string; readonly inputs: ToolInputs },
) {
  const from = peer.frames.length;
  peer.say({ type: "run.tool-call", runId, fence, ...called, inputs: JSON.stringify(inputs) });
  return peer.message("run.tool-answered", from);
}
