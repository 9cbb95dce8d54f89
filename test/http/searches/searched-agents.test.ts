import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { runs } from "../../../actors/runs/run.table.js";
import { listSteps } from "../../../actors/runs/run-steps.js";
import { listCandidates } from "../../../actors/searches/candidates/search-candidate.table.js";
import { listIterations } from "../../../actors/searches/iterations/search-iteration.table.js";
import { getSearchInput, searches } from "../../../actors/searches/search/search.table.js";
import { modelServer } from "../../support/model-server.js";
import { startRealRunner } from "../../support/real-runner.js";
import { layRepository } from "../../support/repository.js";
import { listItems } from "../../support/resources.js";
import { startSearch } from "../../support/search-scene.js";
import { until } from "../../support/until.js";
import { openWorkplace } from "../../support/workplace.js";

/**
 * Tests a search with a real service, a real runner and a real repository. The search's agent proposes candidates
 * without a model. Each task has its own word, which appears in the task's title, diffs, check output and judge's
 * reasons.
 */

const proposer = fileURLToPath(new URL("../../../http/demo/proposer.js", import.meta.url));
const runners = { pool: "main" };
const work = {
  key: "work",
  name: "Work",
  kind: "work",
  prompt: "Work.",
  runners,
  check: "cat note.txt",
  judge: { rubric: "Is it thorough?" },
};
const toWord = (n: number) => `canary-${"abcde"[n]}${n}x`;

/**
 * Returns an agent. In a run of a search, the agent copies all files that it finds to `dump`, and proposes three
 * candidates. In other runs, the agent writes its prompt and the task's title to `note.txt`.
 */
const toAgent = (dump: string) => `
if [ -n "$SIGNALBOX_SEARCH" ]; then
  { env; cat "$SIGNALBOX_PROMPT_FILE" "$SIGNALBOX_CONTEXT_FILE"
    find "$SIGNALBOX_SEARCH" "$SIGNALBOX_SKILLS" -type f -print -exec cat {} +; } > ${dump}/$SIGNALBOX_RUN
  exec ${process.execPath} ${proposer} "Be brief." "Be quick." "Be thorough."
fi
{ cat "$SIGNALBOX_PROMPT_FILE"; echo; grep -o '"title": "[^"]*"' "$SIGNALBOX_CONTEXT_FILE"; } > note.txt
printf '%s\\n' '{"type":"cost","amount":0.01,"currency":"EUR"}'`;

/** Opens a workplace whose runner works on tasks and searches, with a set of five tasks. */
async function openScene(t: Test) {
  const model = await modelServer(t, ({ messages, response_format }) => {
    const shown = messages.at(-1)?.content ?? "";
    const [word] = /canary-\w+/.exec(shown) ?? ["none"];
    const passes = /^\+Be thorough\./m.test(shown);
    const isPair = "better" in Object(response_format?.json_schema.schema.properties);
    if (isPair) return { value: { reasons: [{ text: word, firstHunks: [1], secondHunks: [1] }], better: "tie" } };
    return { value: { reasons: [{ text: `judged ${word}`, citations: [] }], passes } };
  });
  const settings = {
    MODEL_URL: model.url,
    MODEL_NAME: "m",
    MODEL_PRICES: JSON.stringify({ in: 0, out: 0, currency: "EUR" }),
  };
  const place = await openWorkplace(t, { stations: [work], settings });
  const folder = await mkdtemp(join(tmpdir(), "signalbox-searched-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const dump = join(folder, "dump");
  mkdirSync(dump);
  layRepository(join(folder, "acme/app"), { "a.txt": "good\n" });
  const command = ["/bin/sh", "-c", toAgent(dump)];
  const { service, ada, workspaceId, teamId, token } = place;
  await startRealRunner(t, { url: service.baseUrl, token, gitUrl: join(folder, "{name}"), command, slots: 4 });
  const lines = listItems(await ada.request("GET", `/api/resources/workspaces/${workspaceId}/lines`));
  const { id: lineId, stations } = lines[0] as { id: string; stations: { id: string }[] };
  const stationId = stations[0]?.id ?? "";
  const tasks = await Promise.all([0, 1, 2, 3, 4].map((n) => place.open({ title: `Mend ${toWord(n)}` })));
  const opened = await ada.request("POST", `/api/teams/${teamId}/lines/${lineId}/stations/${stationId}/replay-sets`, {
    name: "All",
  });
  const setId = String(opened.body?.id);
  for (const taskId of tasks) {
    await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "done");
    const [run] = await place.runs(taskId);
    await ada.request("POST", `/api/teams/${teamId}/replay-sets/${setId}/entries`, { runId: run?.id });
  }
  return { ...place, lineId, stationId, setId, tasks, dump };
}

t.test("a search finds the better prompt; nothing of held-out tasks reaches its agents", async (t) => {
  const scene = await openScene(t);
  const { service, workspaceId, setId, tasks, dump } = scene;
  const { reading } = service.runtime;
  const { searchId } = await startSearch(scene, setId, { budget: { iterations: 4, perIteration: 1 } });
  await until("the search ends", () => searches.get(reading, workspaceId, searchId)?.endedAt);

  const iterations = listIterations(reading, workspaceId, searchId);
  t.same(
    iterations.map(({ kind, state }) => [kind, state]),
    [
      ["propose", "ended"],
      ["propose", "ended"],
      ["reflect", "ended"],
      ["propose", "ended"],
    ],
  );
  t.match(iterations[2]?.reflection, { outcome: "went-on", causes: { length: 3 } });
  const candidates = listCandidates(reading, workspaceId, searchId);
  t.same(
    candidates.map(({ name, searched }) => [name, searched?.searchScore]),
    [
      ["seed", 0],
      ["be-brief", 0],
      ["be-quick", 0],
      ["be-thorough", 1],
    ],
  );
  t.match(searches.get(reading, workspaceId, searchId), {
    state: "finished",
    ending: "iterations-used",
    best: { name: "be-thorough", searchScore: 1, heldOutScore: 1, onlyOnSeenTasks: "too-few-held-out" },
  });

  const { split } = getSearchInput(reading, workspaceId, searchId);
  const listWords = (of: readonly { readonly taskId: string }[]) =>
    of.map(({ taskId }) => toWord(tasks.indexOf(taskId)));
  const agentRuns = iterations.map(({ runId }) => runId ?? "");
  t.same(readdirSync(dump).sort(), [...agentRuns].sort());
  for (const runId of agentRuns) {
    const steps = listSteps(reading, workspaceId, runId, {});
    const seen =
      readFileSync(join(dump, runId), "utf8") + JSON.stringify([steps, runs.get(reading, workspaceId, runId)]);
    for (const word of listWords(split.heldOut)) t.notMatch(seen, word, "a held-out task");
    for (const { runId: heldOut, taskId } of split.heldOut) t.notMatch(seen, new RegExp(`${heldOut}|${taskId}`));
    t.notMatch(seen, scene.token, "the runner's credential");
  }
  const last = readFileSync(join(dump, agentRuns[3] ?? ""), "utf8");
  for (const word of listWords(split.searched)) {
    for (const where of [`Mend ${word}`, `+"title": "Mend ${word}"`, `judged ${word}`])
      t.ok(last.includes(where), where);
  }
});
