import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import type { RunnerMessage } from "../../../actors/runners/protocol.js";
import { ArchiveCache } from "../../../http/runner/archives/archive-cache.js";
import { Attachments } from "../../../http/runner/attachments/attachments.js";
import { Mirrors } from "../../../http/runner/checkout/mirrors.js";
import { poolToken } from "../../../http/runner/connection/credential.js";
import type { Harness } from "../../../http/runner/harness/harness.js";
import { JobRun } from "../../../http/runner/job-run.js";
import { ProcessGroup } from "../../../http/runner/process/process-group.js";
import { SearchClient } from "../../../http/runner/search/search-client.js";
import { ManualClock } from "../../support/manual-clock.js";
import { until } from "../../support/until.js";
import { ProtocolService } from "./protocol-service.js";
import { toJob } from "./run-scene.js";

/** A harness that neither reads its agent's output nor writes to the agent. */
const silent: Harness = {
  name: "silent",
  run: async (job, run) => {
    const argv = ["/bin/sh", "-c", job.harness.args.join("\n")] as const;
    const group = await ProcessGroup.start({ argv, cwd: run.cwd, env: run.env, mark: `${run.mark}agent` });
    const free = group.obey(run.halt);
    await run.started(group);
    group.stdout.resume();
    group.stderr.resume();
    const { exitCode } = await group.ended;
    free();
    return { exitCode, output: "" };
  },
};

t.test("an agent of another harness proposes with the program that it finds, and hears the answer", async (t) => {
  const workFolder = mkdtempSync(join(tmpdir(), "signalbox-silent-"));
  t.teardown(() => rmSync(workFolder, { recursive: true, force: true }));
  const service = await ProtocolService.start(t);
  const brief = '{"kind":"propose"}';
  const digest = createHash("sha256").update(brief).digest("hex");
  service.answers = ({ line }) => {
    if (line.endsWith("/search-files")) {
      const file = { file: "brief", path: "brief.json", bytes: brief.length, digest };
      return { status: 200, body: { files: [file], leftOut: 0 } };
    }
    if (line.endsWith("/search-files/brief")) return { status: 200, body: brief };
    return line.endsWith("/search-candidates") ? { status: 201, body: { candidates: [], left: 0 } } : undefined;
  };
  const clock = new ManualClock();
  const sent: RunnerMessage[] = [];
  const credential = poolToken(service.token);
  const log = () => undefined;
  const mirrors = new Mirrors({ workFolder, gitUrl: join(workFolder, "{name}") });
  const args = [
    'echo \'{"type":"candidates","name":"a","station":{}}\' > "$TMPDIR/said.json"',
    '"$SIGNALBOX_SEARCH/propose" "$TMPDIR/said.json" > "$TMPDIR/answer" && grep -q \'"left":0\' "$TMPDIR/answer"',
  ];
  const run = new JobRun(toJob({ search: { kind: "propose" }, checkouts: [], harness: { name: "silent", args } }), {
    workFolder,
    mirrors,
    passEnv: [],
    clock,
    log,
    harnesses: new Map([[silent.name, silent]]),
    archives: new ArchiveCache({ workFolder, client: { get: () => Promise.reject(new Error("nothing is archived")) } }),
    attachments: new Attachments({ ask: async () => null }),
    searches: new SearchClient({ url: service.url, credential, runnerId: () => "runner_1", clock }),
    hidden: () => [],
    send: (message) => sent.push(message),
    room: async () => undefined,
    knows: () => true,
  });
  const work = run.work();
  await until("the end of the run", () => {
    clock.advance(100);
    return sent.some(({ type }) => type === "run.ended");
  });
  await work;
  t.match(sent.at(-1), { type: "run.ended", outcome: "completed" }, "it found the answer");
  t.match(service.requested.at(-1), {
    line: "POST /api/runs/run_1/search-candidates",
    body: '{"name":"a","station":{}}',
    headers: { "service-runner": "runner_1", "service-run-fence": "1", "idempotency-key": "run_1-1-1" },
  });
});
