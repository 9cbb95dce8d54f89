import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { arrange, listRuns, openTask, runner, type Setting, until } from "./work-setting.js";

const RUNS = 5;
const ceiling = { amount: 100, currency: "EUR" };

async function ask(setting: Setting, method: "GET" | "POST", path: string, body?: unknown) {
  const headers = { ...setting.cookie, "idempotency-key": path.slice(-20) };
  const answer = await setting.service.request(method, path, { headers, ...(body === undefined ? {} : { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}`);
  return answer.body ?? {};
}

/** Creates a set of ended runs at the station, and a candidate of the station. */
async function fillSet(setting: Setting): Promise<{ readonly set: string; readonly candidate: string }> {
  const tasks = await Promise.all(Array.from({ length: RUNS }, () => openTask(setting)));
  const ended = await until(async () => {
    const all = (await Promise.all(tasks.map((taskId) => listRuns(setting, taskId)))).flat();
    return all.length === RUNS && all.every(({ state }) => state === "ended") && all;
  });
  const team = `/api/teams/${setting.teamId}`;
  const lines = await ask(setting, "GET", `/api/resources/workspaces/${await readWorkspace(setting)}/lines`);
  const [line] = lines.items as { id: string; stations: [{ id: string }] }[];
  const [station] = line?.stations ?? [];
  const opened = await ask(setting, "POST", `${team}/lines/${line?.id}/stations/${station?.id}/replay-sets`, {
    name: "Hard ones",
  });
  const set = `${team}/replay-sets/${opened.id}`;
  for (const { id: runId } of ended) {
    const headers = setting.cookie;
    const added = await setting.service.request("POST", `${set}/entries`, { headers, body: { runId } });
    t.equal(added.status, 204);
  }
  const block = { key: "work", name: "Work", kind: "work", runners: { pool: "main" }, prompt: "Better." };
  const path = `/api/resources/lines/${line?.id}/stations/work/replay-candidates`;
  const candidate = await ask(setting, "POST", path, { name: "Better", station: block });
  return { set, candidate: String(candidate.id) };
}

async function readWorkspace(setting: Setting): Promise<string> {
  const { items } = await ask(setting, "GET", "/api/resources/workspaces");
  return (items as { id: string }[])[0]?.id ?? "";
}

t.test("a replay goes on through a service that is killed three times, each copy run once", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-started-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, "started");
  const setting = await arrange(t, { agent: `echo "$SIGNALBOX_RUN" >> ${log}; echo done > result.txt` });
  runner(t, setting, "only", ["--slots", "8"]);
  const { set, candidate } = await fillSet(setting);
  const started = await ask(setting, "POST", `${set}/replays`, { candidate, ceiling, repeats: 2 });
  const replays = `/api/teams/${setting.teamId}/replays`;
  await ask(setting, "POST", `${replays}/${(started.baseline as { id: string }).id}/stop`);
  const read = () => ask(setting, "GET", `${replays}/${started.id}`);
  for (const settled of [1, 4, 7]) {
    await until(async () => ((await read()).totals as { settled: number }).settled >= settled);
    await setting.restart();
  }
  const replay = await until(async () => {
    const now = await read();
    return now.state === "finished" && now;
  });
  t.match(replay.totals, {
    settled: 2 * RUNS,
    scored: 2 * RUNS,
    entries: 2 * RUNS,
    successRate: 1,
    tasks: RUNS,
  });
  const agents = readFileSync(log, "utf8").trim().split("\n");
  const copies = (replay.entries as { runId: string }[]).map(({ runId }) => runId);
  t.same(
    copies.filter((runId) => !agents.includes(runId)),
    [],
    "each agent was started",
  );
  t.equal(new Set(agents).size, agents.length, "and none twice");
});
