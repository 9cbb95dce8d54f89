import type { Test } from "tap";
import { createMemoryStore } from "../../storage/memory-store.js";
import { join, personAt } from "../support/people.js";
import { listItems, workspaceWithTeam } from "../support/resources.js";
import { type Client, startTestService, type TestService } from "../support/service.js";
import { until } from "../support/until.js";
import { storeEveryList } from "./paged-rows.js";

/** The ids that the paths of lists take, by path parameter. */
export type Places = Readonly<Record<string, string>>;

/** A service with a workspace where every list has at least three items. */
export interface ListWorld {
  readonly service: TestService;
  readonly owner: Client;
  readonly places: Places;
}

const twoStations = ["work", "review"].map((key) => ({ key, name: key, kind: key, runners: { pool: "main" } }));

/** Starts a service, and fills every list of a workspace, through the API and with stored rows. */
export async function openLists(t: Test): Promise<ListWorld> {
  const store = createMemoryStore();
  const service = await startTestService(t, { store, settings: { OUTBOUND_ALLOW: "hooks.example.com" } });
  const owner = await personAt(service, "owner@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(owner);
  const people = [owner];
  for (const name of ["bob", "cleo"]) people.push(await join(service, owner, `${name}@example.com`));
  const emails = ["dan", "eve", "fay"].map((name) => `${name}@example.com`);
  await owner.request("POST", "/api/workspaces/acme/invites", { emails });
  const within = `/api/resources/teams/${teamId}`;
  const pool = await owner.request(
    "POST",
    `/api/resources/workspaces/${workspaceId}/runner-pools`,
    { key: "main" },
    { "idempotency-key": "main" },
  );
  const line = await owner.create(`${within}/lines`, {
    key: "dev",
    name: "Dev",
    repositories: [{ name: "acme/app" }],
    stations: twoStations,
  });
  for (const key of ["one", "two", "three"]) {
    await owner.create(`${within}/hooks`, {
      key,
      on: "task.opened",
      signing: { secret: `whsec_${Buffer.alloc(32).toString("base64")}`, secretVersion: 1 },
      steps: [{ name: "post", request: { url: "https://hooks.example.com/in" } }],
    });
  }
  // From here on, no host is allowed, so the hooks fail immediately and the service does not retry them.
  service.allow("");
  const integration = await owner.create(`${within}/integrations`, {
    integration: "tracker",
    name: "Tracker",
    hosts: ["tracker.example.com"],
  });
  const [station] = line.stations as readonly { readonly id: string }[];
  const stationId = station?.id ?? "";
  const set = await owner.request("POST", `/api/teams/${teamId}/lines/${line.id}/stations/${stationId}/replay-sets`, {
    name: "Hard ones",
  });
  const [task] = await openTasks(owner, teamId);
  const firings = await endedFirings(owner, teamId);
  const known = {
    workspaceId,
    teamId,
    slug: "acme",
    lineId: line.id,
    stationId,
    setId: String(set.body?.id),
    integrationId: integration.id,
    poolId: String(pool.body?.id),
    taskId: String(task?.id),
    taskRunId: String(task?.runId),
    occurrence: String(firings[0]?.occurrence),
  };
  const userIds = people.map(({ userId }) => userId);
  return { service, owner, places: { ...known, ...(await storeEveryList({ service, store, known, userIds })) } };
}

async function openTasks(owner: Client, teamId: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const opened = [];
  for (const title of ["one", "two", "three"]) {
    const reply = await owner.request("POST", `/api/teams/${teamId}/tasks`, { title, line: "dev" });
    if (reply.status !== 201) throw new Error(`opening a task answered ${reply.status} ${reply.text}`);
    opened.push(reply.body ?? {});
  }
  return opened;
}

/**
 * Returns the occurrences of three hooks for three tasks, once all of them have failed. They fail because no host is
 * allowed.
 */
function endedFirings(owner: Client, teamId: string) {
  return until("the firings ended", async () => {
    const found = listItems(await owner.request("GET", `/api/teams/${teamId}/hook-occurrences?state=failed`));
    return found.length === 9 ? found : null;
  });
}
