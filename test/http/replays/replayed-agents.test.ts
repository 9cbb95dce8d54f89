import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type WorkEventName, workEventNames, workEvents } from "../../../actors/events/catalogue.js";
import { listCopies } from "../../../actors/replays/copies/replay-copy.table.js";
import type { ReplayCopyRow, ReplayRow } from "../../../actors/replays/replay/replay.js";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import { runCheckouts } from "../../../actors/runs/run.table.js";
import { hookReceiver } from "../../support/hook-receiver.js";
import { hook, ok } from "../../support/hook-scene.js";
import { startRealRunner } from "../../support/real-runner.js";
import { inRepository, layRepository } from "../../support/repository.js";
import { listItems, replace } from "../../support/resources.js";
import { until } from "../../support/until.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

/** Tests replays with agents that try to escape, on a real service and a real runner. */

const say = (line: Record<string, unknown>): string => `printf '%s\\n' '${JSON.stringify(line)}'`;
const heard = 'read answer; echo "$answer"';

/** An agent that changes a file, then does what its prompt says. */
const agent = `
prompt=$(cat "$SIGNALBOX_PROMPT_FILE")
echo better >> a.txt
case "$prompt" in
*"get out"*)
  git commit --quiet --all -m Out; git push; git push origin HEAD:refs/heads/out
  ${say({ type: "permission", id: "1", tool: "deploy", inputs: {} })}; ${heard}
  ${say({ type: "step", kind: "tool", text: "moved the task", call: { server: "signalbox", tool: "move", failed: false } })}
  ${say({ type: "handover", to: "review", note: "Out." })}; ${heard};;
*"ask"*)
  ${say({ type: "ask", question: "May I get out?" })}
  sleep 600;;
esac`;

const runners = { pool: "main" };
const work = { key: "work", name: "Work", kind: "work", prompt: "Work well.", runners, passesTo: ["review"] };
const review = { key: "review", name: "Review", kind: "review", prompt: "Look at it.", runners };

interface Scene extends Workplace {
  readonly repository: string;
  readonly receiver: Awaited<ReturnType<typeof hookReceiver>>;
  readonly lineId: string;
  readonly stationId: string;
}

/** Opens a line over a real repository, adds a hook on every event, and starts a runner with the agent above. */
async function openScene(t: Test): Promise<Scene> {
  const receiver = await hookReceiver(t, ok);
  const place = await openWorkplace(t, { stations: [work, review], settings: { OUTBOUND_ALLOW: receiver.url } });
  const { ada, service, workspaceId, teamId, token } = place;
  const served = workEventNames.filter((name: WorkEventName) => workEvents[name].served);
  for (const on of served) {
    await ada.create(`/api/resources/teams/${teamId}/hooks`, hook(receiver.url, { key: on.replace(".", "-"), on }));
  }
  const folder = await mkdtemp(join(tmpdir(), "signalbox-replayed-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const repository = join(folder, "acme/app");
  layRepository(repository, { "a.txt": "good\n" });
  const gitUrl = join(folder, "{name}");
  await startRealRunner(t, { url: service.baseUrl, token, gitUrl, command: ["/bin/sh", "-c", agent], slots: 2 });
  const lines = listItems(await ada.request("GET", `/api/resources/workspaces/${workspaceId}/lines`));
  const { id: lineId, stations } = lines[0] as { id: string; stations: { id: string }[] };
  return { ...place, repository, receiver, lineId, stationId: stations[0]?.id ?? "" };
}

/** Works on a task until it is done; returns its id and the id of its run at the first station. */
async function workTask(scene: Scene): Promise<{ readonly taskId: string; readonly runId: string }> {
  const taskId = await scene.open();
  await scene.when(`task/${taskId}`, async () => (await scene.task(taskId)).state === "done");
  return { taskId, runId: String((await scene.runs(taskId)).at(-1)?.id) };
}

async function readOpenSet({ ada, teamId, lineId, stationId }: Scene, runId: string): Promise<string> {
  const station = `/api/teams/${teamId}/lines/${lineId}/stations/${stationId}`;
  const opened = await ada.request("POST", `${station}/replay-sets`, { name: "All" });
  const set = `/api/teams/${teamId}/replay-sets/${opened.body?.id}`;
  const added = await ada.request("POST", `${set}/entries`, { runId });
  if (added.status !== 204) throw new Error(added.text);
  return set;
}

/**
 * Replays the set with these changes of the station's block. Resolves with the replay's copies once the replay has
 * finished.
 */
async function replay(scene: Scene, set: string, changes: object): Promise<readonly ReplayCopyRow[]> {
  const { ada, lineId, service, workspaceId } = scene;
  const candidates = `/api/resources/lines/${lineId}/stations/work/replay-candidates`;
  const name = Object.values(changes).join(" ");
  const { id: candidate } = await ada.create(candidates, { name, station: { ...work, ...changes } });
  const body = { candidate, ceiling: { amount: 1, currency: "EUR" } };
  const started = await ada.request("POST", `${set}/replays`, body);
  const id = String(started.body?.id);
  const row = (): ReplayRow | undefined => replays.get(service.runtime.reading, workspaceId, id);
  await until(`the replay "${name}" has finished`, () => row()?.state === "finished");
  return listCopies(service.runtime.reading, workspaceId, id);
}

/** Reads everything outside of replays that a replay could affect. */
async function world({ ada, repository, receiver, teamId, workspaceId, service, ...place }: Scene, taskId: string) {
  const read = async (path: string) => (await ada.request("GET", path)).body;
  return {
    branches: inRepository(repository, "for-each-ref"),
    heard: receiver.requests.length,
    hooks: await read(`/api/teams/${teamId}/hook-occurrences?limit=200`),
    task: await place.task(taskId),
    runs: await place.runs(taskId),
    notes: await read(`/api/tasks/${taskId}/notes`),
    tasks: await read(`/api/teams/${teamId}/tasks`),
    mails: service.logLines.filter((logged) => /mail/.test(logged)).length,
  };
}

t.test("an agent that tries to get out of a replay changes nothing outside of it", async (t) => {
  const scene = await openScene(t);
  const { ada, teamId, service, workspaceId } = scene;
  const { taskId, runId } = await workTask(scene);
  const occurrences = async () =>
    listItems(await ada.request("GET", `/api/teams/${teamId}/hook-occurrences?limit=200`));
  await until("all hooks are told", async () => (await occurrences()).every(({ state }) => state === "delivered"));
  t.ok(scene.receiver.requests.length >= 6, "hooks hear of the task's own runs");
  const before = await world(scene, taskId);
  const set = await readOpenSet(scene, runId);
  const [gotOut] = await replay(scene, set, { prompt: "get out" });
  t.match(gotOut, { result: "succeeded", outcome: "completed", toolMisses: 0 });
  const steps = listItems(await ada.request("GET", `/api/runs/${gotOut?.runId}/steps`)).map(({ text }) => text);
  for (const answer of [/not appear to be a git repository/, /permission\.dismissed.*Nobody/, /handover\.accepted/]) {
    t.match(steps.join("\n"), answer);
  }
  t.match(await ada.request("GET", `/api/runs/${gotOut?.runId}`), {
    body: { ending: { kind: "handover", to: "review", note: "Out." } },
  });

  const [asked] = await replay(scene, set, { prompt: "ask" });
  t.match(asked, { result: "failed", why: { code: "asked" }, outcome: "completed" });
  t.same(await world(scene, taskId), before);

  const [live] = listCopies(service.runtime.reading, workspaceId, toBaseline(scene));
  t.match(live, { result: "succeeded", originalRunId: runId });
  const left = (id: string) => runCheckouts.list(service.runtime.reading, workspaceId, [id]);
  const [original, copy] = [left(runId), left(live?.runId ?? "")];
  t.ok(original[0]?.digest);
  t.same(
    copy.map(({ runId: _run, ...rest }) => rest),
    original.map(({ runId: _run, ...rest }) => rest),
    "the same tree",
  );
});

/** Returns the id of the replay of the live config. This replay started together with the first candidate's replay. */
function toBaseline({ service, workspaceId, teamId }: Scene): string {
  const found = replays.all(service.runtime.reading, workspaceId, { teamId });
  return found.find(({ candidate }) => candidate.kind === "live")?.id ?? "";
}

t.test("a check that whoever plans has written gets no secret, the live one and the live setup do", async (t) => {
  const scene = await openScene(t);
  const { ada, workspaceId, teamId, lineId } = scene;
  const value = "value-of-the-secret";
  await ada.create(`/api/resources/workspaces/${workspaceId}/secrets`, { name: "key", value, valueVersion: 1 });
  const profile = { key: "keyed", harness: "command", secrets: { KEY: "key" } };
  await ada.create(`/api/resources/teams/${teamId}/harness-profiles`, profile);
  const isKnown = `test "\${KEY-none}" = ${value}`;
  const keyed = { profile: "keyed", check: isKnown };
  const line = { key: "dev", name: "Dev", repositories: [{ name: "acme/app", setup: isKnown }] };
  const stations = [
    { ...work, ...keyed },
    { ...review, profile: "keyed" },
  ];
  const changed = await replace(ada, `/api/resources/lines/${lineId}`, 1, { ...line, stations });
  t.equal(changed.status, 200, changed.text);

  const { runId } = await workTask(scene);
  const set = await readOpenSet(scene, runId);
  const [prompted] = await replay(scene, set, { ...keyed, prompt: "Work better." });
  t.match(prompted, { result: "succeeded", check: { passed: true } });
  const [written] = await replay(scene, set, { ...keyed, check: `${isKnown} || echo seen none` });
  t.match(written, { result: "succeeded", check: { passed: true, tail: "seen none\n" } });
});
