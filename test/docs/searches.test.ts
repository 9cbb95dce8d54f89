import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import t, { type Test } from "tap";
import type { Job } from "../../actors/runners/job.js";
import { startCodeHost } from "../support/code-host.js";
import { connect, install } from "../support/code-host-scene.js";
import { type DocsScene, openDocsScene } from "../support/docs-scene.js";
import { readBlocks } from "../support/page-blocks.js";
import { type ReplayScene, sceneLine, toReplayScene, workTask } from "../support/replay-scene.js";
import { replace } from "../support/resources.js";

/** Follows `docs/searches.md`. The test is the runner; the program of the page is the search's agent. */

const PAGE = "docs/searches.md";
const INFRA = "acme-inc/infra";

type SearchPlace = ReplayScene & DocsScene;

/** Runs the page's program for a job of a search, as a runner does. Returns the statuses of the service's answers. */
async function runProgram(
  t: Test,
  { service, token, peer, reader }: SearchPlace,
  { runId, fence }: Job,
): Promise<readonly number[]> {
  const statuses: number[] = [];
  const folder = mkdtempSync(join(tmpdir(), "signalbox-search-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { runnerId } = await peer.frame("welcome");
  const headers = { "service-runner": runnerId, "service-run-fence": String(fence) };
  const runner = service.withToken(token);
  const brief = await runner.request("GET", `/api/runs/${runId}/search-files/brief`, undefined, headers);
  writeFileSync(join(folder, "brief.json"), brief.text);
  const env = { ...process.env, SIGNALBOX_SEARCH: folder };
  const program = spawn(process.execPath, ["propose.mjs"], { cwd: reader.repository, env });
  const ended = new Promise<number | null>((resolve) => program.once("close", resolve));
  for await (const line of createInterface({ input: program.stdout })) {
    const { type, ...said } = JSON.parse(line) as { readonly type: "candidates" | "cause" };
    const path = `/api/runs/${runId}/${type === "candidates" ? "search-candidates" : "search-causes"}`;
    const { status, body } = await runner.request("POST", path, said, {
      ...headers,
      "idempotency-key": `said-${statuses.length}`,
    });
    statuses.push(status);
    program.stdin.write(`${JSON.stringify({ type: `${type}.answered`, status, body })}\n`);
  }
  t.equal(await ended, 0, "the program ended");
  return statuses;
}

/**
 * Works on all runs of searches until the runner is disconnected. The live config solves no task, and the program's
 * candidate solves all tasks.
 */
function workSearches(t: Test, place: SearchPlace, statuses: number[]): void {
  const next = async (): Promise<void> => {
    const job = await place.peer.job();
    place.peer.start(job);
    if (job.search !== undefined) statuses.push(...(await runProgram(t, place, job)));
    const passed = job.search !== undefined || job.station.prompt.includes("Read the tests");
    place.peer.end(job, {
      ending: passed ? { kind: "finish", note: "" } : { kind: "ask", question: "Which one?" },
      spent: { amount: passed ? 0.06 : 0.04, currency: "USD" },
    });
    return next();
  };
  next().catch(() => undefined);
}

t.test("an agent finds a better config, which is picked", async (t) => {
  const codeHost = await startCodeHost(t);
  install(codeHost, 7);
  codeHost.repositories.set(7, [INFRA]);
  const docs = await openDocsScene(t, { stations: sceneLine.stations, settings: codeHost.settings });
  const place: SearchPlace = await toReplayScene(docs);
  const { reader, values, ada, workspaceId, lineId } = place;
  t.equal((await connect(codeHost, ada, { installationId: 7 })).status, 200);
  const exported = await ada.request("GET", `/api/resources/workspaces/${workspaceId}/export`);
  const { files } = exported.body as unknown as { readonly files: readonly { path: string; content: string }[] };
  const infra = await codeHost.work.addRepository(
    INFRA,
    Object.fromEntries(files.map(({ path, content }) => [path, content])),
  );
  const source = { repository: INFRA, path: "main.tf" };
  t.equal(
    (await replace(ada, `/api/resources/lines/${lineId}`, 1, { ...sceneLine, key: "main", name: "Main", source }))
      .status,
    200,
  );
  for (let n = 1; n <= 5; n++) await workTask(place, { base: String(n).repeat(40) });
  await reader.run('signalbox set add --new "Last month" last:20');

  const statuses: number[] = [];
  workSearches(t, place, statuses);
  const blocks = readBlocks(readFileSync(PAGE, "utf8"), PAGE);
  const shown = blocks.find(({ language }) => language === "text")?.code ?? "";
  const program = blocks.find(({ title }) => title === "propose.mjs")?.code ?? "";
  writeFileSync(join(reader.repository, "propose.mjs"), program);
  const ended: Record<string, string> = {};
  await reader.follow(PAGE, {
    values,
    before: ({ code }) => {
      // Without a runner, the search over HTTP waits until it is stopped.
      if (code.includes("/stop")) place.peer.cut();
    },
    after: ({ code }, { out, err }) => {
      ended[code.split("\n")[0] ?? ""] = `${err}${out}`;
    },
  });
  const outputOf = (command: string) => Object.entries(ended).find(([code]) => code.includes(command))?.[1] ?? "";
  t.match(
    outputOf("search estimate"),
    /^warning: 2 tasks are held out, 5 are needed to confirm a gain.*\n[\s\S]*^at most 51 runs within 20 USD/m,
  );
  t.ok(outputOf("search start").includes(shown), "the output is as the page shows it");
  t.match(outputOf("search start"), /^ended because +no-proposals$/m, "the program proposes once");
  t.match(readFileSync(join(reader.repository, "frontier.svg"), "utf8"), /^<svg [\s\S]*>reads-tests<\/text>/);
  t.same(statuses, [201], "one candidate is proposed, and admitted");
  writeFileSync(join(reader.repository, "brief.json"), '{"kind": "reflect", "tasks": [{"taskId": "task_1"}]}');
  const answer = '{"type": "cause.answered", "status": 201}';
  const reflected = await reader.run(`SIGNALBOX_SEARCH=. node propose.mjs <<< '${answer}'`);
  t.match(JSON.parse(reflected.out), { type: "cause", taskId: "task_1", cause: "config", suggestion: /\w/ });
  t.ok(outputOf("search show").includes(shown));

  const [pull] = codeHost.work.pulls;
  t.match(outputOf("search pick"), `/${INFRA}/pull/${pull?.number} with reads-tests`);
  const head = (await infra.head(pull?.head ?? "")) ?? "";
  t.match(await infra.changed("main", head), [{ path: "main.tf" }]);
  t.match((await infra.read(head, "main.tf")).toString(), /prompt += "Read the tests before you edit\."/);

  const over = JSON.parse(outputOf("S=http").replace(/^[\s\S]*?\}(?=\{"id":"srch)/, ""));
  t.match(over, { state: "stopped", ending: "stopped", agent: { harness: "command" } });
});
