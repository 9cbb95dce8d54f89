import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import t, { type Test } from "tap";
import { until } from "../../support/until.js";
import type { Requested } from "./protocol-service.js";
import { type JobWish, RunScene } from "./run-scene.js";

/**
 * Tests search runs: which files their agents find, and how they communicate with the service. The agents are real
 * programs; the test acts as the service.
 */

const say = (line: Record<string, unknown>): string => `printf '%s\\n' '${JSON.stringify(line)}'`;
const answered = 'read answer; echo "$answer"';
const propose = { search: { kind: "propose" }, checkouts: [] } as const;
const files: Readonly<Record<string, string>> = {
  "brief.json": '{"kind":"propose"}\n',
  "runs/task_1/task.json": "{}\n",
};

type Answer = ReturnType<RunScene["service"]["answers"]>;

/**
 * Opens a scene whose service has these files for agents. `answer` decides how the service answers the agents'
 * messages.
 */
async function searchScene(t: Test, answer: (request: Requested) => Answer, shown = files) {
  const scene = await RunScene.start(t, { passEnv: ["GITHUB_TOKEN"] });
  scene.service.answers = (request) => {
    const [, path = ""] = /^GET \/api\/runs\/run_1\/(.*)$/.exec(request.line) ?? [];
    const listed = Object.entries(shown).map(([name, text], n) => ({
      file: `file.${n}`,
      path: name,
      bytes: Buffer.byteLength(text),
      digest: createHash("sha256").update(text).digest("hex"),
    }));
    if (path === "search-files") return { status: 200, body: { files: listed, leftOut: 3 } };
    const [, n] = /^search-files\/file\.(\d+)$/.exec(path) ?? [];
    return n === undefined ? answer(request) : { status: 200, body: Object.values(shown)[Number(n)] };
  };
  return scene;
}

const admitted: Answer = {
  status: 201,
  body: { candidates: [{ candidateId: "c", name: "a", fingerprint: "f" }], left: 1 },
};
const refused: Answer = { status: 422, body: { title: "Wrong", errors: [{ path: "[0].name", message: "is taken" }] } };
const said = (scene: RunScene) => scene.service.requested.filter(({ line }) => line.startsWith("POST"));

/** Works on a job while the clock advances. */
async function workInTime(scene: RunScene, wish: JobWish) {
  const run = scene.work(wish);
  await until("the end of the run", () => {
    scene.clock.advance(100);
    return scene.messages("run.ended").length > 0;
  });
  return run;
}

t.test("its agent finds the files, the skill and the prompt, an empty folder, and no credential", async (t) => {
  process.env.GITHUB_TOKEN = "github-secret";
  t.teardown(() => {
    delete process.env.GITHUB_TOKEN;
  });
  const scene = await searchScene(t, () => admitted);
  const agent = `ls -A; cd "$SIGNALBOX_SEARCH"; find . -type f | sort; cat brief.json
    cat "$SIGNALBOX_PROMPT_FILE" "$SIGNALBOX_SKILLS/search/SKILL.md"; cat ~/.gitconfig; env
    grep -r -l -e pool-token -e github-secret . ../.. && echo leaked; true`;
  t.match(await scene.work({ ...propose, agent }), { outcome: "completed", checkouts: { length: 0 } });
  const steps = scene.steps().map((step) => step.replace(/^output: /, ""));
  t.same(steps.slice(0, 5), [
    ...["./brief.json", "./left-out.json", "./propose", "./runs/task_1/task.json"],
    '{"kind":"propose"}',
  ]);
  const all = steps.join("\n");
  t.match(all, /Propose better configs[\s\S]*Work well\.[\s\S]*# Search for a better config/);
  t.match(all, /\[credential\]\n\thelper =/);
  t.notMatch(all, /pool-token|github-secret|leaked/);
  const [list] = scene.service.requested;
  t.match(list, {
    line: "GET /api/runs/run_1/search-files",
    headers: { authorization: "Bearer pool-token", "service-runner": "runner_1", "service-run-fence": "1" },
  });
});

t.test("what it says in a line is posted once, in its order, and answered on its input", async (t) => {
  const answers = [undefined, refused, admitted, { status: 201, body: { taskId: "task_1" } }];
  const scene = await searchScene(t, () => answers.shift());
  const lines = [
    { type: "candidates", candidates: [{ name: "b", station: { key: "s3cr3t-value" } }] },
    { type: "candidates", name: "a", hypothesis: null, station: {} },
    { type: "cause", taskId: "task_1", cause: "task", evidence: "It is." },
  ];
  const agent = lines.map((line) => `${say(line)}; ${answered}`).join("\n");
  const ended = await workInTime(scene, { ...propose, agent, harness: { secrets: { KEY: "s3cr3t-value" } } });
  t.match(ended, { outcome: "completed" });
  t.same(
    said(scene).map(({ line, headers, body }) => [line, headers["idempotency-key"], JSON.parse(body)]),
    [
      ["POST /api/runs/run_1/search-candidates", "run_1-1-1", { candidates: [{ name: "b", station: { key: "***" } }] }],
      ["POST /api/runs/run_1/search-candidates", "run_1-1-1", { candidates: [{ name: "b", station: { key: "***" } }] }],
      ["POST /api/runs/run_1/search-candidates", "run_1-1-2", { name: "a", hypothesis: null, station: {} }],
      ["POST /api/runs/run_1/search-causes", "run_1-1-3", { taskId: "task_1", cause: "task", evidence: "It is." }],
    ],
    "one that got no answer is sent again under its key",
  );
  t.same(scene.steps(), [
    `error: candidates: 422 ${JSON.stringify(refused?.body)}`,
    `output: ${JSON.stringify({ type: "candidates.answered", ...refused })}`,
    `tool: candidates: 201 ${JSON.stringify(admitted?.body)}`,
    `output: ${JSON.stringify({ type: "candidates.answered", ...admitted })}`,
    'tool: cause: 201 {"taskId":"task_1"}',
    'output: {"type":"cause.answered","status":201,"body":{"taskId":"task_1"}}',
  ]);
});

t.test("an agent of any harness says it with the program that it finds, which tells how it went", async (t) => {
  const answers = [refused, admitted];
  const scene = await searchScene(t, () => answers.shift());
  const file = '"$TMPDIR/said.json"';
  const agent = `${say({ type: "candidates", name: "a", station: {} })} > ${file}
    for i in 1 2; do "$SIGNALBOX_SEARCH/propose" ${file} && echo taken || echo not; done`;
  t.match(await workInTime(scene, { ...propose, agent }), { outcome: "completed" });
  t.same(
    scene.steps().filter((step) => step.startsWith("output")),
    [`output: ${JSON.stringify(refused)}not`, `output: ${JSON.stringify(admitted)}taken`],
  );
  t.same(said(scene).length, 2);
});

t.test("what it leaves in files is sent when it has ended, and what is no such file is answered", async (t) => {
  const scene = await searchScene(t, () => admitted);
  const copy = scene.path("answers");
  const agent = `cd "$SIGNALBOX_SEARCH/proposals"
    ${say({ type: "cause", taskId: "task_1" })} > a.json
    echo '{"type":"cand' > b.json; echo '{"type":"other"}' > c.json; ln -s /etc/passwd d.json; mkfifo e.json
    ${say({ type: "candidates" })} > .hidden.json; head -c 3000000 /dev/zero > f.json
    (printf '{"type":"cause","x":'; yes '[' | head -n 100000; yes ']' | head -n 100000; echo '}') > g.json
    (cd ..; rmdir answers; mkdir -p ${copy}; ln -s ${copy} answers)`;
  await scene.work({ ...propose, agent });
  t.same(
    said(scene).map(({ line, body }) => `${line} ${body}`),
    ['POST /api/runs/run_1/search-causes {"taskId":"task_1"}'],
  );
  const toAnswer = (name: string) => JSON.parse(readFileSync(`${copy}/${name}.json`, "utf8"));
  t.same(toAnswer("a"), admitted);
  for (const name of ["b", "c"]) t.match(toAnswer(name), { status: 400, body: { detail: /JSON object/ } });
  for (const name of ["d", "e", "f"]) t.match(toAnswer(name), { status: 400, body: { detail: /at most 2097152/ } });
  t.match(toAnswer("g"), { status: 400, body: { detail: /nested too deeply/ } });
  t.notOk(existsSync(`${copy}/.hidden.json`));
});

t.test("files that the service does not give end the run before its agent begins", async (t) => {
  const cases: readonly [Record<string, string> | null, RegExp][] = [
    [null, /nothing here/],
    [{ "../out.json": "{}" }, /leads out/],
    [{ "/etc/out.json": "{}", "x/../../out.json": "" }, /leads out/],
    [{ "long.json": "x".repeat(256 * 1024 + 1) }, /too long/],
  ];
  for (const [shown, why] of cases) {
    const scene = await searchScene(t, () => admitted, shown ?? {});
    if (shown === null) scene.service.answers = () => ({ status: 404, body: { detail: "There is nothing here." } });
    const ended = await scene.work({ ...propose, agent: `echo on > ${scene.path("agent")}` });
    t.match(ended, { outcome: "failed", failure: { code: "runner-error", output: why } });
    t.notOk(existsSync(scene.path("agent")));
  }
});

t.test("a file that changes after the list is fetched as it is in the next one", async (t) => {
  const shown = { "brief.json": "old" };
  const scene = await searchScene(t, () => admitted, shown);
  const before = scene.service.answers;
  scene.service.answers = (request) => {
    const answer = before(request);
    if (request.line.endsWith("search-files")) shown["brief.json"] = "new";
    return answer;
  };
  await scene.work({ ...propose, agent: 'cat "$SIGNALBOX_SEARCH/brief.json"' });
  t.same(scene.steps(), ["output: new"]);
  t.equal(scene.service.requested.filter(({ line }) => line.endsWith("search-files")).length, 2);
});

t.test("nobody is asked: no leave, and a question ends the run; in other runs such lines are output", async (t) => {
  const scene = await searchScene(t, () => admitted);
  const leave = `${say({ type: "permission", id: "1", tool: "shell" })}; ${answered}`;
  const agent = `${leave}; ${say({ type: "ask", question: "Which?" })}; ${answered}`;
  t.match(await scene.work({ ...propose, agent }), { ending: { kind: "ask" } });
  t.match(scene.steps(), [/dismissed.*Nobody can approve calls/]);
  await scene.work({ runId: "run_2", agent: say({ type: "candidates", candidates: [] }) });
  t.equal(scene.steps().at(-1), 'output: {"type":"candidates","candidates":[]}');
  t.same(said(scene), []);
});
