import type { Client, Schema } from "../../client/entry.js";
import { listAll } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { toDuration } from "../command/duration.js";
import { toFields, toTable } from "../command/table.js";
import type { Terminal } from "../command/terminal.js";
import { toTimeText } from "../command/time-text.js";

/** Maximum number of tasks of a team that are counted in each state. */
const MOST = 1_000;

/** A hook with failed or waiting firings, with its health. */
interface FailingHook extends NonNullable<Schema<"Hook">["health"]> {
  /** `<team>/<hook>`. */
  readonly hook: string;
}

/** Shows the state of the service, and the queue, runners and failing hooks of a workspace. */
export async function status(context: Context): Promise<void> {
  const { client, terminal } = context;
  const workspace = await context.names.workspace();
  const path = { workspaceId: workspace.id };
  const [service, teams, { items: runners }, { items: hooks }] = await Promise.all([
    client.get("/api/status"),
    listTeams(client, workspace.id),
    client.get("/api/workspaces/{slug}/runners", { path: { slug: workspace.slug }, query: { limit: 200 } }),
    client.get("/api/resources/workspaces/{workspaceId}/hooks", { path }),
  ]);
  const counts = await Promise.all(teams.map(({ id }) => countTasks(client, id)));
  const failing = hooks.flatMap(toFailing);
  const connected = runners.filter(({ connected }) => connected);
  const uptimeSeconds = Math.max(0, Math.round((Date.now() - Date.parse(service.startedAt)) / 1_000));
  const found = {
    url: context.login.url,
    ...service,
    uptimeSeconds,
    workspace: workspace.slug,
    queued: total(counts.map(({ queued }) => queued)),
    running: total(counts.map(({ running }) => running)),
    runners: {
      connected: connected.length,
      slots: total(connected.map(({ slots }) => slots)),
      free: total(connected.map(({ free }) => free)),
    },
    failingHooks: failing,
  };
  const { free, slots } = found.runners;
  context.show(found, () => [
    ...toFields(terminal, [
      ["service", found.url],
      ["release", found.release],
      ["store format", found.storeFormat],
      ["uptime", toDuration(uptimeSeconds)],
      ["last backup", toTimeText(terminal, service.backupAt) ?? "unknown"],
      ["workspace", found.workspace],
      ["queue", `${toCount(found.queued, "task")} queued, ${found.running} running`],
      ["runners", `${found.runners.connected} connected, ${free} of ${toCount(slots, "slot")} free`],
      ["failing hooks", failing.length === 0 ? "none" : failing.length],
    ]),
    ...(failing.length === 0 ? [] : ["", ...toTable(terminal, toColumns(terminal), failing)]),
  ]);
}

const toColumns = (terminal: Terminal) => [
  { title: "hook", of: ({ hook }: FailingHook) => hook, isFlexible: true },
  { title: "delivered", of: ({ delivered }: FailingHook) => delivered, isMinor: true },
  { title: "refused", of: ({ refused }: FailingHook) => refused, isMinor: true },
  { title: "failed", of: ({ failed }: FailingHook) => failed },
  { title: "waiting", of: ({ waiting }: FailingHook) => waiting },
  { title: "next retry", of: ({ nextRetryAt }: FailingHook) => toTimeText(terminal, nextRetryAt) },
];

async function listTeams(client: Client, workspaceId: string): Promise<readonly { readonly id: string }[]> {
  const path = { workspaceId };
  return (await client.get("/api/resources/workspaces/{workspaceId}/teams", { path })).items;
}

async function countTasks(
  client: Client,
  teamId: string,
): Promise<{ readonly queued: number; readonly running: number }> {
  const count = async (state: "queued" | "running"): Promise<number> => {
    let found = 0;
    const tasks = listAll(client, "/api/teams/{teamId}/tasks", "before", {
      path: { teamId },
      query: { state },
    });
    for await (const _task of tasks) {
      found += 1;
      if (found === MOST) break;
    }
    return found;
  };
  return { queued: await count("queued"), running: await count("running") };
}

/**
 * Returns the hook in a list if its firings failed in the last 24 hours or wait for a retry; otherwise an empty list.
 */
function toFailing({ address, health }: Schema<"Hook">): readonly FailingHook[] {
  const isFailing = health !== null && (health.failed > 0 || health.waiting > 0);
  return isFailing ? [{ hook: address, ...health }] : [];
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

function toCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
