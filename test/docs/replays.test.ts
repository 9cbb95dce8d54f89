import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { Job } from "../../actors/runners/job.js";
import { openDocsScene } from "../support/docs-scene.js";
import { modelServer } from "../support/model-server.js";
import { readBlocks } from "../support/page-blocks.js";
import { type ReplayScene, sceneLine, toReplayScene, workTask } from "../support/replay-scene.js";
import { until } from "../support/until.js";

/** Follows `docs/replays.md`. The test is the runner, and a scripted model judges. */

const PAGE = "docs/replays.md";

/** The tasks of the page, in the order of its table. */
const TITLES = ["Sort the list", "Fix the date", "Close the file", "Name the error", "Read the header"];
/** Number of tasks that the live config solves. */
const SOLVED = 2;

/** Returns a diff of one line. */
const toDiff = (text: string): string => `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+${text}\n`;

/**
 * Works on all replay runs until the test ends. The live config, which has no prompt, solves only the first {@link
 * SOLVED} tasks. Every other config solves all tasks.
 */
function workReplays({ peer }: ReplayScene, jobs: Job[]): void {
  const next = async (): Promise<void> => {
    const job = await peer.job();
    jobs.push(job);
    peer.start(job);
    const isLive = job.station.prompt === "";
    const passed = !isLive || TITLES.indexOf(job.task?.title ?? "") < SOLVED;
    const diff = toDiff(job.runId);
    peer.end(job, {
      ending: passed ? { kind: "finish", note: "" } : { kind: "ask", question: "Which one?" },
      check: job.station.check === null ? null : { passed, exitCode: passed ? 0 : 1, output: "" },
      checkouts: job.replay?.does === "check" ? [] : [{ repository: "acme/app", base: "b".repeat(40), diff }],
      spent: { amount: isLive ? 0.04 : 0.06, currency: "USD" },
    });
    return next();
  };
  next().catch(() => undefined);
}

t.test("a set is collected, measured, and compared under a prompt and a candidate", async (t) => {
  const model = await modelServer(t);
  const settings = { MODEL_URL: model.url, MODEL_NAME: "judging-model" };
  const place = await toReplayScene(await openDocsScene(t, { stations: sceneLine.stations, settings }));
  const { reader, values, ada, team } = place;
  for (const [n, title] of TITLES.entries()) {
    await workTask(place, { title, base: String(n + 1).repeat(40), diff: toDiff(title) });
  }
  const jobs: Job[] = [];
  workReplays(place, jobs);

  const blocks = readBlocks(readFileSync(PAGE, "utf8"), PAGE);
  const [shown = "", scoring = ""] = ["text", "hcl"].map((each) => blocks.find((b) => b.language === each)?.code);
  const ended: Record<string, string> = {};
  await reader.follow(PAGE, {
    values,
    before: ({ code }) => {
      if (!code.includes("signalbox apply")) return;
      const file = join(reader.repository, "acme/main.tf");
      writeFileSync(file, readFileSync(file, "utf8").replace(/^ +decisions /m, `${scoring}\n$&`));
    },
    after: ({ code }, { out, err }) => {
      ended[code.split("\n")[0] ?? ""] = `${err}${out}`;
    },
  });
  const outputOf = (command: string) => Object.entries(ended).find(([code]) => code.includes(command))?.[1] ?? "";
  t.match(outputOf("set add"), /^added 5 runs to Last month /m);
  const compared = outputOf("better.md");
  t.match(compared, /^the live config is also replayed, within 6 USD\n/, "the first baseline has three ceilings");
  t.ok(compared.includes(shown), "the output is as the page shows it");
  t.match(outputOf("replay show"), /noise +0 points between 3 copies, 0 tasks had both results, use --repeats 1\n/);
  t.match(outputOf("apply"), /^changed line core\/main$/m);
  t.match(outputOf("careful.json"), /^the live config is also replayed.*[\s\S]*^better: [\s\S]*side by side +\d+ won/m);
  t.match(
    jobs.findLast(({ station }) => station.effort === "high"),
    {
      station: { effort: "high", prompt: "Fix the problem. Explain the cause first.", check: "npm test" },
      replay: {},
    },
  );
  t.match(model.asked[0], { model: "judging-model" });
  const measured = outputOf("--candidate live");
  t.match(measured, /^judge +agrees with itself on \d+ of \d+/m);
  t.match(measured, /^checks +0 of 15 changed when repeated$/m);

  const replay = JSON.parse(outputOf("S=http").replace(/^[^{]*|[^}]*$/g, ""));
  t.match(replay, { candidate: { name: "Brief", kind: "proposed" }, ceiling: { amount: 2, currency: "USD" } });
  await until("the replay over HTTP has a gain", async () => {
    const { body } = await ada.request("GET", `${team}/replays/${replay.id}`);
    return body?.state === "finished" && Reflect.get(Object(body.againstBaseline), "verdict") === "better";
  });
  const { body: read } = await ada.request("GET", `${team}/replays/${replay.id}`);
  const [copy] = (read?.entries ?? []) as readonly { readonly runId: string }[];
  t.match((await ada.request("GET", `/api/runs/${copy?.runId}/diff`)).text, /^diff --git /, "a copy's change is read");
  const readHealth = async () => (await ada.request("GET", `${team}/replay-sets/${replay.setId}`)).body?.health;
  await until(
    "the maximum gain is known",
    async () => Reflect.get(Object(await readHealth()), "oracle")?.withAnswer != null,
  );
});
