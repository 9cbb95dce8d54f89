import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { poolToken } from "../../../http/runner/connection/credential.js";
import { type Runner, startRunner } from "../../../http/runner/runner.js";
import { createSystemClock } from "../../../runtime/clock.js";
import { inRepository } from "../../support/repository.js";
import { until } from "../../support/until.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

const station = { key: "work", name: "Work", kind: "work", runners: { pool: "main" } };
/** An agent that prints the tree, the log and `a.txt` of its checkout, and changes the file. */
const agent = ["/bin/sh", "-c", "git ls-files --stage; git log --format=%H; cat a.txt; echo more >> a.txt"];

/** A workplace with a real repository, and real runners that the test starts and stops. */
class Scene {
  readonly place: Workplace;
  readonly folder: string;
  readonly remote: string;
  readonly #runners: Runner[] = [];

  private constructor(place: Workplace, folder: string) {
    this.place = place;
    this.folder = folder;
    this.remote = join(folder, "repositories/acme/app");
  }

  static async open(t: Test): Promise<Scene> {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-archived-"));
    const scene = new Scene(await openWorkplace(t, { stations: [station] }), folder);
    t.teardown(async () => {
      for (const runner of scene.#runners) await runner.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    });
    mkdirSync(scene.remote, { recursive: true });
    scene.git("init", "--quiet", "--initial-branch", "main");
    scene.commit("Begin", "one\n");
    scene.commit("Go on", "two\n");
    return scene;
  }

  git(...args: string[]): string {
    return inRepository(this.remote, ...args).trim();
  }

  commit(message: string, text: string): void {
    writeFileSync(join(this.remote, "a.txt"), text);
    writeFileSync(join(this.remote, "large.bin"), randomBytes(700_000));
    this.git("add", ".");
    this.git("commit", "--quiet", "-m", message);
  }

  /** Creates a new history, and removes the earlier history completely. */
  forget(how: "pushed by force" | "deleted"): void {
    this.git("checkout", "--quiet", "--orphan", "next");
    this.commit("Anew", "anew\n");
    this.git("branch", "--quiet", "-D", "main");
    if (how === "pushed by force") this.git("branch", "-m", "main");
    this.git("reflog", "expire", "--expire=now", "--all");
    this.git("gc", "--quiet", "--prune=now");
  }

  /** Starts a runner with its own folder. */
  async runner(name: string): Promise<Runner> {
    const { service, token } = this.place;
    const runner = await startRunner({
      url: service.baseUrl,
      credential: poolToken(token),
      name,
      labels: [],
      slots: 1,
      passEnv: [],
      command: agent,
      workFolder: join(this.folder, name),
      gitUrl: join(this.folder, "repositories/{name}"),
      clock: createSystemClock(),
      random: () => 0.5,
      log: () => undefined,
      instance: randomBytes(16).toString("hex"),
    });
    this.#runners.push(runner);
    return runner;
  }

  /** Opens a task, and waits until its run has ended. */
  async work(): Promise<string> {
    const taskId = await this.place.open({ title: "Mend it" });
    const [run] = await until("the run ends", async () => {
      const runs = await this.place.runs(taskId);
      return runs[0]?.state === "ended" ? runs : null;
    });
    return String(run?.id);
  }

  async read(path: string): Promise<Readonly<Record<string, unknown>>> {
    return (await this.place.ada.request("GET", path)).body ?? {};
  }

  /** Returns the output of a run's agent, and the agent's changes. */
  async told(runId: string) {
    const { items } = (await this.read(`/api/runs/${runId}/steps?limit=200`)) as { items: { text: string }[] };
    const run = await this.read(`/api/runs/${runId}`);
    return { printed: items.map(({ text }) => text), checkouts: run.checkouts, outcome: run.outcome };
  }
}

for (const how of ["pushed by force", "deleted"] as const) {
  t.test(`a run is repeated from the same tree after its branch was ${how}`, async (t) => {
    const scene = await Scene.open(t);
    const { place } = scene;
    const { ada, teamId } = place;
    const first = await scene.runner("first");
    const base = scene.git("rev-parse", "HEAD");
    const runId = await scene.work();
    const original = await scene.told(runId);
    t.equal(original.outcome, "completed");
    t.ok(original.printed.includes(base));

    const { lineId, stationId } = await scene.read(`/api/runs/${runId}`);
    const team = `/api/teams/${teamId}`;
    const at = `${team}/lines/${lineId}/stations/${stationId}/replay-sets`;
    const set = `${team}/replay-sets/${(await ada.request("POST", at, { name: "Hard ones" })).body?.id}`;
    const entry = async () => ((await scene.read(set)).entries as { archive: unknown; replayable: boolean }[])[0];
    const add = async () => t.equal((await ada.request("POST", `${set}/entries`, { runId })).status, 204);
    await add();
    await until("the branch holds it", async () => (await entry())?.archive === null);
    t.equal((await ada.request("DELETE", `${set}/entries/${runId}`)).status, 204);

    scene.forget(how);
    await scene.work();
    t.throws(() => scene.git("cat-file", "-e", base), "the repository has it no more");
    await add();
    await until("its pack is kept", async () => (await entry())?.archive === "kept");
    await first.drain();

    await scene.runner("second");
    const ceiling = { amount: 10, currency: "EUR" };
    const started = await ada.request("POST", `${set}/replays`, { candidate: "live", ceiling });
    t.equal(started.status, 201, started.text);
    const copy = await until("the copy ends", async () => {
      const { entries } = await scene.read(`${team}/replays/${started.body?.id}`);
      const [found] = (entries ?? []) as { runId: string | null; result: string | null }[];
      return found?.result === null ? null : (found ?? null);
    });
    t.match(copy, { result: "succeeded" });
    const again = await scene.told(String(copy.runId));
    const withoutHistory = original.printed.filter((line) => !/^[0-9a-f]{40}$/.test(line));
    t.same(
      again.printed,
      [...withoutHistory.slice(0, 2), base, ...withoutHistory.slice(2)],
      "the same tree, no history",
    );
    t.same(again.checkouts, original.checkouts, "the same change against the same commit");
    const mirrored = join(scene.folder, "second/mirrors/acme/app.git");
    t.throws(() => inRepository(mirrored, "cat-file", "-e", base), "the mirror of the second runner never had it");
    t.equal(readdirSync(join(scene.folder, "second/archives")).length, 1, "it came from the service");

    t.equal((await ada.request("DELETE", set)).status, 204);
    const left = () => place.service.runtime.reading.range({ prefix: [place.workspaceId, "row", "archive-chunk"] });
    await until("its archive goes with the set", () => left().length === 0);
  });
}
