import t from "tap";
import { runCheckouts } from "../../../../actors/runs/run.table.js";
import { findAgentFile, listFileNames } from "../../../../actors/searches/agent/agent-files.js";
import { MAX_FILE_BYTES, MAX_STEPS } from "../../../../actors/searches/agent/bounds.js";
import { type FileName, fileNameText, folderName, parseFileName } from "../../../../actors/searches/agent/file-name.js";
import { proposalSchema } from "../../../../actors/searches/agent/proposal.js";
import { searchIterations } from "../../../../actors/searches/iterations/search-iteration.table.js";
import type { Reflection } from "../../../../actors/searches/search/search.js";
import { judge } from "../../../support/run-config.js";
import { workspaceId } from "../../../support/work.js";
import { AgentScene, CANARY, configWith, live } from "./agent-scene.js";

/**
 * Tests which files a search agent sees. The files are built from rows. The search of `agent-scene.ts` holds out task
 * 3.
 */

const task = { taskId: "task_1", originalRunId: "run_1", replayRunId: "run_rep_bold_1" };
const reflection: Reflection = { standing: "cand_1", tasks: [task], causes: [], outcome: null };
const reflecting = { iteration: { kind: "reflect", reflection } } as const;

t.test("a proposer finds the brief, each candidate, each searched task, and the copies one by one", async (t) => {
  const { files } = new AgentScene();
  t.same(
    [...files.keys()],
    [
      ...[
        "brief.json",
        "candidates/seed.json",
        "candidates/bold.json",
        "runs/task_1/task.json",
        "runs/task_2/task.json",
      ],
      ...["seed", "bold"].flatMap((of) =>
        ["result.json", "change.diff"].map((file) => `runs/task_1/${of}/1-1/${file}`),
      ),
      ...["seed", "bold"].flatMap((of) =>
        ["result.json", "change.diff"].map((file) => `runs/task_2/${of}/2-1/${file}`),
      ),
    ],
    "those that failed come first",
  );
});

t.test("the brief says what is left, what the live block is, and what to begin from", async (t) => {
  const scene = new AgentScene({ iteration: { proposed: ["cand_2"] } });
  t.match(scene.json("brief.json"), {
    kind: "propose",
    iteration: 2,
    objective: "success",
    minGain: 0.05,
    causes: [],
    detailed: ["seed", "bold"],
    left: { candidates: 1, iterations: 1, money: { amount: 7.5, currency: "EUR" } },
    candidates: [
      { name: "seed", seed: true, iteration: null, replay: "finished", searchScore: 0.5 },
      { name: "bold", seed: false, iteration: 1, searchScored: 2, costPerRun: { amount: 0.5, currency: "EUR" } },
    ],
    frontier: ["seed", "bold"],
    parents: [
      { name: "seed", bestAt: ["task_1", "task_2"] },
      { name: "bold", bestAt: ["task_1", "task_2"] },
    ],
    searchedTasks: [
      { taskId: "task_1", folder: "runs/task_1" },
      { taskId: "task_2", folder: "runs/task_2" },
    ],
  });
  const again = proposalSchema.parse({ name: "again", station: scene.json("brief.json").live });
  t.same(again.station, {
    ...live.station,
    name: "Work",
    passesTo: [],
    alerts: [],
    runners: { pool: null, labels: [] },
  });
  t.notOk("cut" in scene.json("brief.json"));
});

t.test("candidates, tasks and copies say how they did on searched runs", async (t) => {
  const scene = new AgentScene();
  t.match(scene.json("candidates/bold.json"), {
    name: "bold",
    hypothesis: "It was shy.",
    searchScore: 0.5,
    station: { prompt: "Be bold.", name: "Work" },
    changes: [{ part: "prompt", kind: "changed", was: null, now: null }],
  });
  t.match(scene.json("runs/task_1/task.json"), {
    taskId: "task_1",
    title: "Mend 1",
    description: "All of Mend 1",
    results: [
      {
        candidate: "seed",
        of: 1,
        succeeded: 0,
        copies: [{ folder: "seed/1-1", result: "failed", why: "judge-failed", ms: 1_000 }],
      },
      { candidate: "bold", copies: [{ folder: "bold/1-1" }] },
    ],
  });
  t.match(scene.json("runs/task_1/bold/1-1/result.json"), {
    task: "task_1",
    candidate: "bold",
    copy: 1,
    result: "failed",
    why: { code: "judge-failed" },
    check: { passed: true, exitCode: 0, output: "rep_bold checked 1" },
    judge: { scale: "claims", passed: false, reasons: [{ text: "rep_bold left 1 undone", claim: 0 }] },
    lastSteps: [{ index: 0, kind: "message", text: "0 rep_bold read 1" }],
    spent: { amount: 0.5, currency: "EUR" },
  });
  t.equal(scene.files.get("runs/task_1/bold/1-1/change.diff"), "# in acme/app\n+rep_bold 1\n");
});

t.test("a reflection finds the tasks that it looks into, under the standing config and the live one", async (t) => {
  const scene = new AgentScene(reflecting);
  t.same(
    [...scene.files.keys()],
    [
      ...["brief.json", "candidates/seed.json", "candidates/bold.json", "runs/task_1/task.json"],
      ...["seed", "bold"].flatMap((of) =>
        ["result.json", "change.diff"].map((file) => `runs/task_1/${of}/1-1/${file}`),
      ),
    ],
  );
  t.match(scene.json("brief.json"), {
    kind: "reflect",
    standing: "bold",
    tasks: [{ taskId: "task_1", folder: "runs/task_1" }],
    left: { candidates: 0 },
  });
});

t.test("the proposer after a reflection is given its causes", async (t) => {
  const scene = new AgentScene({ iteration: { number: 3 } });
  const found = { cause: "config", evidence: "It hurried.", suggestion: "Slow down.", recordedAt: "" } as const;
  const before = { ...scene.iteration, id: "siter_r", number: 2, kind: "reflect", state: "ended" } as const;
  searchIterations.insert(scene.rows, workspaceId, {
    ...before,
    reflection: { ...reflection, causes: [{ ...task, ...found }] },
  });
  t.same(scene.json("brief.json").causes, [
    { taskId: "task_1", cause: "config", evidence: "It hurried.", suggestion: "Slow down." },
  ]);
});

t.test("no byte of a held-out run is in any file, and none can be had by a name", async (t) => {
  for (const options of [{}, reflecting]) {
    const scene = new AgentScene(options);
    const { sight, files } = scene;
    const all = [...files].flat().join("\n");
    t.ok(all.length > 5_000);
    t.notMatch(all, new RegExp(`${CANARY}|task_3|run_3|rep_held`));
    t.match(JSON.stringify(scene.rows.range({ prefix: [] }).map(({ value }) => value)), CANARY, "rows hold it");
    const names: FileName[] = [
      { kind: "task", taskId: "task_3" },
      { kind: "candidate", candidateId: "cand_9" },
      ...["cand_0", "cand_1", "cand_9"].flatMap((candidateId) =>
        (["result", "diff"] as const).map((kind) => ({ kind, candidateId, place: 3, repeat: 1 })),
      ),
    ];
    t.same(
      names.filter((name) => findAgentFile(sight, name) !== undefined),
      [],
    );
  }
});

t.test("each file has at most 256 KiB, whatever was said and changed, and says what was cut", async (t) => {
  const claims = Array.from({ length: 50 }, () => "\u0001".repeat(2_000));
  const scene = new AgentScene({
    live: configWith({
      prompt: "\u0001".repeat(200_000),
      judge: { ...judge, rubric: "\u0001".repeat(50_000), claims },
    }),
    steps: 60,
    texts: {
      step: "\u0001".repeat(16_000),
      output: "\u0001".repeat(65_000),
      reason: "\u0001".repeat(60_000),
      diff: `+${"é".repeat(200_000)}`,
      title: "\u0001".repeat(100_000),
    },
  });
  const { files } = scene;
  t.same(
    [...files].filter(([, content]) => Buffer.byteLength(content) > MAX_FILE_BYTES).map(([path]) => path),
    [],
  );
  const json = (path: string) => JSON.parse(files.get(path) ?? "null");
  t.same(json("brief.json").cut, ["live.prompt", "live.judge"]);
  t.same(json("candidates/seed.json").cut, ["station.prompt", "station.judge"]);
  const { steps, lastSteps } = json("runs/task_1/seed/1-1/result.json");
  t.equal(steps, 1, "as its copy has it");
  t.same(
    (lastSteps as { index: number }[]).map(({ index }) => index),
    Array.from({ length: MAX_STEPS }, (_, index) => index + 10),
  );
  const diff = files.get("runs/task_1/seed/1-1/change.diff") ?? "";
  t.ok(Buffer.byteLength(diff) > MAX_FILE_BYTES - 10);
  t.match(diff.slice(-60), /é\n# cut: the whole change has 400016 bytes\n$/);
});

t.test(
  "the files of the largest search fit: 50 candidates, all as good at 48 runs of as many tasks, or of one",
  async (t) => {
    const many = Array.from({ length: 48 }, (_, n) => n + 10);
    for (const toTask of [(place: number) => `task_${"x".repeat(26)}${place}`, () => "task_of_all"]) {
      const { files } = new AgentScene({ large: { places: many, taskOf: toTask, candidates: 49 } });
      const sizes = [...files].map(([path, content]) => [Buffer.byteLength(content), path] as const);
      t.same(
        sizes.filter(([bytes]) => bytes > MAX_FILE_BYTES),
        [],
      );
      t.ok(files.size > 100);
      t.equal(JSON.parse(files.get("brief.json") ?? "").candidates.length, 51);
      const task = [...files.keys()].findLast((path) => path.endsWith("task.json")) ?? "";
      t.equal(JSON.parse(files.get(task) ?? "").results.length, 50, "all but the one that has no copy of it");
    }
  },
);

t.test("a copy without a run, or without a change, has no such files", async (t) => {
  const scene = new AgentScene();
  for (const row of runCheckouts.list(scene.rows, workspaceId, ["run_rep_bold_1"])) {
    runCheckouts.remove(scene.rows, workspaceId, row);
  }
  t.notOk(scene.files.has("runs/task_1/bold/1-1/change.diff"));
  t.ok(scene.files.has("runs/task_1/bold/1-1/result.json"));
});

t.test("the names of files in addresses lead back to them, and nothing else is one", async (t) => {
  const names = listFileNames(new AgentScene().sight);
  t.same(
    names.map((name) => parseFileName(fileNameText(name))),
    names,
  );
  const others = [
    "",
    "briefs",
    "task.",
    "task.a/b",
    "task.a.b",
    "result.c.1",
    "diff.c.1.1.1",
    "diff.c.-1.1",
    "brief\n",
  ];
  t.same(
    others.map(parseFileName),
    others.map(() => null),
  );
  t.equal(folderName("../a b/ü\n"), "___a_b___");
});
