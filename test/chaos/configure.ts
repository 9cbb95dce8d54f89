import { hookSecret } from "../support/hook-receiver.js";
import { tellers } from "./promises.js";
import type { ServiceKeeper } from "./service-keeper.js";

/** A workspace with a team, lines, hooks and a pool. */
export interface Configured {
  readonly workspaceId: string;
  readonly teamId: string;
  readonly poolToken: string;
}

const A_DAY_IN_MINUTES = 24 * 60;
const runners = { pool: "main" };
const station = { name: "Station", kind: "work", runners, timeoutMinutes: A_DAY_IN_MINUTES };
const lines = [
  {
    ...{ key: "plain", name: "Plain" },
    stations: [
      { ...station, key: "work", passesTo: ["review"] },
      { ...station, key: "review", kind: "review" },
    ],
  },
  { key: "code", name: "Code", repositories: [{ name: "acme/app" }], stations: [{ ...station, key: "work" }] },
];

/** Creates it: the hooks on after events tell one receiver, those on before events ask another. */
export async function configure(
  service: ServiceKeeper,
  headers: Readonly<Record<string, string>>,
  { tell, ask }: { readonly tell: string; readonly ask: string },
): Promise<Configured> {
  const create = async (path: string, body: { readonly key?: string; readonly slug?: string }) => {
    const given = { ...headers, "idempotency-key": `${path.slice(-30)}-${body.key ?? body.slug}` };
    const answer = await service.request("POST", `/api/resources/${path}`, { body, headers: given });
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return { id: String(answer.body?.id), headers: answer.headers };
  };
  const { id: workspaceId } = await create("workspaces", { slug: "acme", ...{ name: "Acme" } });
  const { id: teamId } = await create(`workspaces/${workspaceId}/teams`, { key: "core", ...{ name: "Core" } });
  const pool = await create(`workspaces/${workspaceId}/runner-pools`, { key: "main" });
  for (const line of lines) await create(`teams/${teamId}/lines`, line);
  for (const hook of hooks(tell, ask)) await create(`teams/${teamId}/hooks`, hook);
  return { workspaceId, teamId, poolToken: String(pool.headers["service-pool-token"]) };
}

function hooks(tell: string, ask: string) {
  const signing = { secret: hookSecret, secretVersion: 1 };
  const told = Object.entries(tellers).map(([on, key]) => ({
    ...{ key, on, timeoutSeconds: 2, signing },
    steps: [{ name: "tell", request: { url: `${tell}/tell` } }],
  }));
  const asked = [
    { key: "ask-start", on: "run.starting", failure: "block" },
    { key: "ask-hand-over", on: "handover.giving", failure: "continue" },
  ].map((hook) => ({
    ...{ ...hook, timeoutSeconds: 2, signing },
    steps: [{ name: "ask", request: { url: `${ask}/ask` } }],
  }));
  return [...told, ...asked];
}
