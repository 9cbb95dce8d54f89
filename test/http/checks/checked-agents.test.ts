import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { startRealRunner } from "../../support/real-runner.js";
import { layRepository } from "../../support/repository.js";
import { listItems, replace } from "../../support/resources.js";
import { until } from "../../support/until.js";
import { openWorkplace } from "../../support/workplace.js";

/** Tests a check with a real service and a real runner, whose agents are programs. */

/**
 * An agent that follows its prompt. On the second task, under a worse prompt, it waits until the file `letGo` exists.
 */
const agentScript = (letGo: string) => `
if ! grep -q carelessly "$SIGNALBOX_PROMPT_FILE"; then echo done > result.txt; exit; fi
if grep -q Second "$SIGNALBOX_CONTEXT_FILE"; then until [ -e ${letGo} ]; do sleep 0.05; done; fi
echo "not done"`;

const check = 'test -e result.txt || { echo "there is no result"; exit 1; }';
const work = { key: "work", name: "Work", kind: "work", prompt: "Work well.", check, runners: { pool: "main" } };
const terms = { mostRegressions: 0, ceiling: 10, currency: "EUR" };

/**
 * Opens a scene with a guarded station, a real repository and a real runner. Also returns a function that releases the
 * waiting agent.
 */
async function openScene(t: Test) {
  const place = await openWorkplace(t, { stations: [work] });
  const { ada, service, workspaceId, teamId, token } = place;
  const folder = await mkdtemp(join(tmpdir(), "signalbox-checked-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  layRepository(join(folder, "acme/app"), { "a.txt": "good\n" });
  const letGo = join(folder, "go");
  const command = ["/bin/sh", "-c", agentScript(letGo)];
  await startRealRunner(t, { url: service.baseUrl, token, gitUrl: join(folder, "{name}"), command, slots: 6 });
  const [line] = listItems(await ada.request("GET", `/api/resources/workspaces/${workspaceId}/lines`));
  const { id: lineId, stations } = line as { id: string; stations: { id: string }[] };
  const body = { key: "dev", name: "Dev", repositories: [{ name: "acme/app" }], stations: [work], replayCheck: terms };
  await replace(ada, `/api/resources/lines/${lineId}`, 1, body);
  const opened = await ada.request(
    "POST",
    `/api/teams/${teamId}/lines/${lineId}/stations/${stations[0]?.id}/replay-sets`,
    {
      name: "All",
    },
  );
  const set = `/api/teams/${teamId}/replay-sets/${opened.body?.id}`;
  for (const title of ["First", "Second"]) {
    const taskId = await place.open({ title });
    await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "done");
    const [run] = await place.runs(taskId);
    await ada.request("POST", `${set}/entries`, { runId: run?.id });
  }
  await ada.request("POST", `${set}/guards-changes`);
  const checks = `/api/teams/${teamId}/replay-checks`;
  const read = async (id: unknown) => (await ada.request("GET", `${checks}/${id}`)).body ?? {};
  return {
    start: async (prompt: string) => {
      const station = { ...work, prompt };
      const headers = { "idempotency-key": prompt.replaceAll(" ", "-") };
      return (await ada.request("POST", checks, { lineId, stationKey: "work", station }, headers)).body ?? {};
    },
    untilVerdict: (id: unknown, verdict: string) =>
      until(`the verdict ${verdict}`, async () => {
        const now = await read(id);
        return now.verdict === verdict ? now : null;
      }),
    read,
    letGo: () => writeFileSync(letGo, ""),
  };
}

t.test("a worse candidate fails as soon as it is decided, and one that does as well passes", async (t) => {
  const { start, untilVerdict, read, letGo } = await openScene(t);
  const worse = await start("Work carelessly.");
  const failed = await untilVerdict(worse.id, "failed");
  t.match(failed, {
    candidate: { state: "running", entries: 2, scored: 1, succeeded: 0 },
    regressions: [
      {
        title: "First",
        candidate: ["failed"],
        baseline: ["succeeded"],
        reasons: [{ code: "check-failed", detail: "there is no result" }],
      },
    ],
  });
  const same = await start("Work as well as that.");
  t.equal(same.baselineReplayId, worse.baselineReplayId);
  t.match(await untilVerdict(same.id, "passed"), { compared: 2, candidate: { state: "finished", succeeded: 2 } });
  t.equal((await read(worse.id)).verdict, "failed");
  letGo();
  await until("the worse one has ended", async () => (await read(worse.id)).compared === 2);
  t.match(await read(worse.id), { verdict: "failed", regressions: [{ title: "First" }, { title: "Second" }] });
});
