import { execFileSync } from "node:child_process";
import t, { type Test } from "tap";
import { MAX_COMMITS, type RepositoryCommit } from "../../../../actors/runners/commit-frames.js";
import { RetainedReport } from "../../../../http/runner/archives/retained-report.js";
import { Mirrors } from "../../../../http/runner/checkout/mirrors.js";
import { listRetained } from "../../../../http/runner/checkout/retained-commits.js";
import { ManualClock } from "../../../support/manual-clock.js";
import { until } from "../../../support/until.js";
import { sceneFolder } from "../run-scene.js";

const repository = "acme/app";
const { signal } = new AbortController();
const HOUR_MS = 60 * 60 * 1_000;

/**
 * Returns the report of a runner about the commits that its mirrors retain. Also returns a mirror that retains one
 * commit. The test acts as the service.
 */
async function scene(t: Test) {
  const folder = sceneFolder(t);
  const mirrors = new Mirrors({ workFolder: folder, gitUrl: `${folder}/repositories/{name}` });
  const clock = new ManualClock();
  const frames: (readonly RepositoryCommit[])[] = [];
  const report = new RetainedReport({
    mirrors,
    clock,
    log: (line: string) => t.fail(line),
    send: ({ commits }) => void frames.push(commits),
  });
  t.teardown(() => report.close());
  const begin = () => mirrors.from({ repository, base: null, signal }, async ({ commit }) => commit);
  const commit = await begin();
  const mirror = `${folder}/mirrors/acme/app.git`;
  const kept = () => listRetained(mirror, signal);
  /** Resolves with the frame at this index, once the runner has sent this frame. */
  const frame = async (index: number) => until("a report", () => frames[index]);
  return { mirrors, clock, frames, report, begin, commit, mirror, kept, frame };
}

t.test("commits that no run under way needs are reported after each welcome and every six hours", async (t) => {
  const { report, clock, frames, mirrors, commit, frame, kept } = await scene(t);
  report.begin();
  report.report();
  await mirrors.within({ repository, signal }, async () => undefined);
  t.same(frames, [], "a run under way holds it");
  mirrors.held.letGo({ repository, commit });
  report.begin();
  report.report();
  t.same(await frame(0), [{ repository, commit }]);
  report.report();
  clock.advance(5 * HOUR_MS);
  report.report();
  report.release([]);
  clock.advance(HOUR_MS);
  report.report();
  t.same(await frame(1), [{ repository, commit }], "six hours later");
  t.same(await kept(), [commit]);
  report.release([{ repository, commit }]);
  await until("it is released", async () => (await kept()).length === 0);
  report.release([{ repository, commit }]);
});

t.test("what a run began from since the report is not released", async (t) => {
  const { report, mirrors, commit, begin, frame, kept } = await scene(t);
  mirrors.held.letGo({ repository, commit });
  report.begin();
  report.report();
  await frame(0);
  await begin();
  mirrors.held.letGo({ repository, commit });
  report.release([{ repository, commit }]);
  await report.close();
  t.same(await kept(), [commit], "even when that run has ended");
});

t.test("many commits are reported a frame at a time", async (t) => {
  const { report, mirrors, commit, mirror, frames, frame } = await scene(t);
  mirrors.held.letGo({ repository, commit });
  const names = Array.from({ length: MAX_COMMITS }, (_, n) => String(n).padStart(40, "0"));
  const input = names.map((name) => `create refs/kept/${name} ${commit}\n`).join("");
  execFileSync("git", ["update-ref", "--stdin"], { cwd: mirror, input });
  report.begin();
  report.report();
  t.equal((await frame(0)).length, MAX_COMMITS);
  t.equal(frames.length, 1, "the next waits for the answer");
  report.release([]);
  t.equal((await frame(1)).length, 1);
  report.release([]);
  await report.close();
  t.equal(frames.length, 2);
});
