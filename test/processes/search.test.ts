import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { arrange, listRuns, openTask, runner, type Setting, until } from "./work-setting.js";

const RUNS = 5;
const budget = {
  iterations: 1,
  perIteration: 1,
  concurrency: 4,
  repeats: 1,
  ceiling: { amount: 10, currency: "USD" },
};
const proposer = fileURLToPath(new URL("../../http/demo/proposer.js", import.meta.url));

/** The fields of a search that the test reads. */
interface FoundSearch {
  readonly state: string;
  readonly ending: string | null;
  readonly proposed: number;
  readonly spent: { readonly amount: number };
  readonly best: { readonly name: string } | null;
  readonly iterations: readonly { readonly state: string; readonly attempts: number }[];
  readonly seed: { readonly replayId: string };
  readonly candidates: readonly {
    readonly replayId: string | null;
    readonly heldOutReplayId: string | null;
    readonly replayState: string | null;
    readonly heldOutReplayState: string | null;
  }[];
}

async function ask(setting: Setting, method: "GET" | "POST", path: string, body?: unknown) {
  const headers = { ...setting.cookie, "idempotency-key": path.slice(-20) };
  const answer = await setting.service.request(method, path, { headers, ...(body === undefined ? {} : { body }) });
  if (answer.status >= 300)
    throw new Error(`${method} ${path} answered ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body ?? {};
}

/** Creates a set of ended runs at the station; returns its id and the station's path. */
async function fillSet(setting: Setting): Promise<{ readonly setId: string; readonly station: string }> {
  const tasks = await Promise.all(Array.from({ length: RUNS }, () => openTask(setting)));
  const ended = await until(async () => {
    const all = (await Promise.all(tasks.map((taskId) => listRuns(setting, taskId)))).flat();
    return all.length === RUNS && all.every(({ state }) => state === "ended") && all;
  });
  const team = `/api/teams/${setting.teamId}`;
  const { items } = await ask(setting, "GET", "/api/resources/workspaces");
  const workspaceId = (items as { id: string }[])[0]?.id;
  const lines = await ask(setting, "GET", `/api/resources/workspaces/${workspaceId}/lines`);
  const [line] = lines.items as { id: string; stations: [{ id: string }] }[];
  const station = `${team}/lines/${line?.id}/stations/${line?.stations[0].id}`;
  const opened = await ask(setting, "POST", `${station}/replay-sets`, { name: "Hard ones" });
  for (const { id: runId } of ended) {
    const body = { runId };
    const path = `${team}/replay-sets/${opened.id}/entries`;
    const added = await setting.service.request("POST", path, { headers: setting.cookie, body });
    t.equal(added.status, 204);
  }
  return { setId: String(opened.id), station };
}

t.test("a search goes on through a service that is killed three times, and each of its runs ran once", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-started-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [log, searching] = [join(folder, "started"), join(folder, "searching")];
  const agent = `
if [ -n "$SIGNALBOX_SEARCH" ]; then exec node ${proposer} "Better: look twice."; fi
echo "$SIGNALBOX_RUN" >> ${log}
echo '{"type":"cost","amount":0.01,"currency":"USD"}'
sleep 0.2
[ ! -f ${searching} ] || grep -q Better "$SIGNALBOX_PROMPT_FILE"
`;
  const setting = await arrange(t, { agent });
  runner(t, setting, "only", ["--slots", "8"]);
  const { setId, station } = await fillSet(setting);
  writeFileSync(searching, "");
  const asked = { setId, budget, agent: { harness: "command" }, objective: "success" };
  const started = await ask(setting, "POST", `${station}/searches`, asked);
  const team = `/api/teams/${setting.teamId}`;
  const read = async () => (await ask(setting, "GET", `${team}/searches/${started.id}`)) as unknown as FoundSearch;
  const seedSettled = async () => {
    const replay = await ask(setting, "GET", `${team}/replays/${started.seedReplayId}`);
    return (replay.totals as { readonly settled: number }).settled;
  };
  await until(async () => (await seedSettled()) >= 2);
  await setting.restart();
  await until(async () => (await read()).proposed > 0);
  await setting.restart();
  await until(async () => !["seeding", "searching"].includes((await read()).state));
  await setting.restart();
  const search = await until(async () => {
    const now = await read();
    return now.state === "finished" && now;
  });
  t.match(search, {
    ending: "iterations-used",
    proposed: 1,
    best: { name: "better-look-twice" },
    iterations: [{ state: "ended" }],
    candidates: [{ replayState: "finished", heldOutReplayState: "finished" }],
  });
  const agents = readFileSync(log, "utf8").trim().split("\n").slice(RUNS);
  t.equal(new Set(agents).size, agents.length, "no copy ran twice");
  t.equal(agents.length, 2 * RUNS, "the set by the live config, and all of it by the candidate, in two parts");
});
