import { hookSecret } from "../support/hook-receiver.js";
import type { OutsideTracker } from "./outside-tracker.js";
import { tellers } from "./promises.js";
import type { ServiceKeeper } from "./service-keeper.js";

/** A workspace with a team, lines, hooks and a pool. */
export interface Configured {
  readonly workspaceId: string;
  readonly teamId: string;
  readonly poolToken: string;
  /** The path for the tracker's deliveries. */
  readonly deliveriesPath: string;
}

/** The owner of everything, who is also the assignee of every task. */
export const OWNER = "ada@example.com";
const A_DAY_IN_MINUTES = 24 * 60;
const runners = { pool: "main" };
const station = { name: "Station", kind: "work", runners, timeoutMinutes: A_DAY_IN_MINUTES };
const lines = [
  {
    key: "plain",
    name: "Plain",
    stations: [
      { ...station, key: "work", passesTo: ["review"] },
      { ...station, key: "review", kind: "review" },
    ],
  },
  {
    key: "tools",
    name: "Tools",
    stations: [{ ...station, key: "work", tools: ["tracker.comment", "tracker.leave"] }],
  },
  { key: "code", name: "Code", repositories: [{ name: "acme/app" }], stations: [{ ...station, key: "work" }] },
];

/** Creates the workspace. Hooks with `after` timing notify one receiver; hooks with `before` timing ask another. */
export async function configure(
  service: ServiceKeeper,
  headers: Readonly<Record<string, string>>,
  { tell, ask, tracker }: { readonly tell: string; readonly ask: string; readonly tracker: OutsideTracker },
): Promise<Configured> {
  const create = async (path: string, body: { readonly [name: string]: unknown }) => {
    const given = { ...headers, "idempotency-key": `${path.slice(-30)}-${body.key ?? body.slug ?? body.name}` };
    const answer = await service.request("POST", `/api/resources/${path}`, { body, headers: given });
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return { id: String(answer.body?.id), headers: answer.headers };
  };
  const { id: workspaceId } = await create("workspaces", { slug: "acme", name: "Acme" });
  const { id: teamId } = await create(`workspaces/${workspaceId}/teams`, { key: "core", name: "Core" });
  const pool = await create(`workspaces/${workspaceId}/runner-pools`, { key: "main" });
  const secret = { name: "tracker-hook", value: tracker.secret, valueVersion: 1, hosts: [] };
  await create(`workspaces/${workspaceId}/secrets`, secret);
  const integration = await create(`teams/${teamId}/integrations`, tracker.definition(OWNER));
  for (const line of lines) await create(`teams/${teamId}/lines`, line);
  for (const hook of hooks(tell, ask)) await create(`teams/${teamId}/hooks`, hook);
  return {
    workspaceId,
    teamId,
    poolToken: String(pool.headers["service-pool-token"]),
    deliveriesPath: `/api/integrations/${integration.id}/deliveries`,
  };
}

function hooks(tell: string, ask: string) {
  const signing = { secret: hookSecret, secretVersion: 1 };
  const told = Object.entries(tellers).map(([on, key]) => ({
    key,
    on,
    timeoutSeconds: 2,
    signing,
    steps: [{ name: "tell", request: { url: `${tell}/tell` } }],
  }));
  const asked = [
    { key: "ask-start", on: "run.starting", failure: "block" },
    { key: "ask-hand-over", on: "handover.giving", failure: "continue" },
  ].map((hook) => ({
    ...hook,
    timeoutSeconds: 2,
    signing,
    steps: [{ name: "ask", request: { url: `${ask}/ask` } }],
  }));
  return [...told, ...asked];
}
