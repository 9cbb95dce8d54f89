import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type ScriptedModel, startScriptedModel } from "../../http/demo/scripted-model.js";
import type { Reply } from "../processes/service-process.js";
import { createChance } from "../simulation/chance.js";
import { agentScript } from "./agent.js";
import { type Host, openHost } from "./host.js";
import { Ledger } from "./ledger.js";
import { RepeatingClient } from "./repeating-client.js";
import { ServiceKeeper } from "./service-keeper.js";

/** Maximum number of a runner's concurrent runs. */
const SLOTS = 6;
const RUNNERS = 2;
const LEASE_SECONDS = 2;
const prices = { in: 1, out: 1, currency: "EUR" };

const station = {
  key: "work",
  name: "Work",
  kind: "work",
  runners: { pool: "main" },
  judge: { rubric: "The work is done.", scale: "yes-no" },
};
/** The station's block after a planned change of its prompt. */
export const plannedStation = { ...station, prompt: "Do the work." };

/** A service with a judging model, runners, and a team whose station has a judge. */
export interface ReplayWorld {
  readonly folder: string;
  readonly service: ServiceKeeper;
  readonly model: ScriptedModel;
  readonly hosts: readonly Host[];
  readonly client: RepeatingClient;
  readonly ledger: Ledger;
  readonly teamId: string;
  readonly line: { readonly id: string; readonly stationId: string };
  /** The distinct texts of the reasons that the model gave. */
  readonly given: ReadonlySet<string>;
  /** The file in which agents record their starts. */
  readonly startsFile: string;
  /** Stops every process and closes everything; the folder stays. */
  close(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts everything over an empty folder. */
export async function openReplayWorld(folder: string, seed: number): Promise<ReplayWorld> {
  const ledger = new Ledger();
  const given = new Set<string>();
  const model = await startScriptedModel(() => {
    const text = `answer ${given.size + 1}`;
    given.add(text);
    return { value: { reasons: [{ text, citations: [] }], passes: true } };
  });
  const service = new ServiceKeeper({
    dataFolder: join(folder, "data"),
    clockFile: join(folder, "clock"),
    settings: {
      LEASE_SECONDS: `${LEASE_SECONDS}`,
      RATE_PER_CREDENTIAL: "0",
      RATE_PER_ADDRESS: "0",
      MODEL_URL: model.url,
      MODEL_NAME: "scripted",
      MODEL_PRICES: JSON.stringify(prices),
    },
    onDeath: (said) => ledger.complaints.push(`the service ended by itself ${said}`),
  });
  await service.start();
  const headers = await service.life.signIn("ada@example.com");
  const client = new RepeatingClient({ service, headers, ledger, chance: createChance(seed) });
  const { teamId, poolToken, line } = await configure(client);
  const startsFile = join(folder, "starts");
  writeFileSync(join(folder, "agent.sh"), agentScript(startsFile));
  const gitUrl = join(folder, "repositories/{name}");
  const hosts: Host[] = [];
  for (let n = 0; n < RUNNERS; n++) {
    hosts.push(await openHost(folder, { name: `runner-${n}`, slots: SLOTS, service, poolToken, gitUrl }));
  }
  const close = async (): Promise<void> => {
    service.expectEnd();
    service.life.signal("SIGKILL");
    for (const { process: runner, wire } of hosts) {
      runner.signal("SIGKILL");
      wire.close();
    }
    service.close();
    await model.close();
  };
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  return { folder, service, model, hosts, client, ledger, teamId, line, given, startsFile, close, remove };
}

/** Creates a workspace with a pool, and with a line of one station. The station's judge asks the model. */
async function configure(client: RepeatingClient) {
  const create = async (path: string, body: object) =>
    expectMade(await client.post(`/api/resources/${path}`, body, path));
  const workspaceId = toId(await create("workspaces", { slug: "acme", name: "Acme" }));
  const teamId = toId(await create(`workspaces/${workspaceId}/teams`, { key: "core", name: "Core" }));
  const pool = await create(`workspaces/${workspaceId}/runner-pools`, { key: "main" });
  const terms = { mostRegressions: 1, ceiling: 1_000, currency: "EUR" };
  const fields = { key: "plain", name: "Plain", stations: [station], replayCheck: terms };
  const line = await create(`teams/${teamId}/lines`, fields);
  const [made] = (line.body?.stations ?? []) as readonly { readonly id: string }[];
  if (made === undefined) throw new Error("a line without its station");
  const poolToken = String(pool.headers["service-pool-token"]);
  return { teamId, poolToken, line: { id: toId(line), stationId: made.id } };
}

function expectMade(reply: Reply): Reply {
  if (reply.status >= 300) throw new Error(`answered ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply;
}

/** Returns the id of the created resource. */
export function toId(reply: Reply): string {
  return String(expectMade(reply).body?.id);
}
