import t from "tap";
import { z } from "zod";
import { createUnder, replace, toProblem, toSlug, workspaceWithTeam } from "../../support/resources.js";
import { type Client, startTestService } from "../../support/service.js";

const base = "/api/resources";
const work = { key: "work", name: "Work", kind: "work" };

async function teamLines(owner: Client): Promise<string> {
  const { teamId } = await workspaceWithTeam(owner);
  return `${base}/teams/${teamId}/lines`;
}

/** Faults of a line whose only station is `work` with these extra fields. */
const wrongStations: readonly [more: object, path: string, message: string][] = [
  [{ key: "Not a slug" }, "stations[0].key", "must be lowercase words joined by dashes"],
  [{ kind: "rest" }, "stations[0].kind", "must be work or review"],
  [{ harness: "Two Words" }, "stations[0].harness", "must be lowercase words joined by dashes"],
  [{ effort: "most" }, "stations[0].effort", "must be low, medium, high, xhigh or max"],
  [{ profile: "none" }, "stations[0].profile", "there is no harness-profile core/none"],
  [{ skills: ["none"] }, "stations[0].skills[0]", "there is no skill core/none"],
  [{ skills: ["a", "a"] }, "stations[0].skills", "must name each skill once"],
  [{ tools: ["code.open"] }, "stations[0].tools[0].tool", "no integration of the team offers code.open"],
  [{ tools: [{ tool: "code" }] }, "stations[0].tools[0].tool", "must be a tool as <integration>.<tool>"],
  [{ tools: [{ tool: "code.open", approval: 1 }] }, "stations[0].tools[0].approval", "must be true or false"],
  [{ judge: {} }, "stations[0].judge", "must have a rubric or claims"],
  [{ judge: { rubric: 1 } }, "stations[0].judge.rubric", "must be text"],
  [{ judge: { rubric: "x", scale: "stars" } }, "stations[0].judge.scale", "must be yes-no or number"],
  [{ judge: { rubric: "x", passScore: 3 } }, "stations[0].judge.passScore", "is allowed only with the scale number"],
  [{ judge: { rubric: "x", scale: "number", passScore: 6 } }, "stations[0].judge.passScore", "must be at most 5"],
  [{ judge: { claims: [""] } }, "stations[0].judge.claims[0]", "must not be empty"],
  [{ judge: { claims: ["x"], passShare: 2 } }, "stations[0].judge.passShare", "must be at most 1"],
  [{ judge: { rubric: "x", passShare: 0.5 } }, "stations[0].judge.passShare", "is allowed only with claims"],
  [{ judge: { rubric: "x", "odd key": 1 } }, 'stations[0].judge["odd key"]', "is not a field here"],
  [{ runners: { pool: "none" } }, "stations[0].runners.pool", "there is no runner-pool none"],
  [
    { runners: { labels: ["a b"] } },
    "stations[0].runners.labels[0]",
    "must be letters, digits, dots, dashes or underscores",
  ],
  [{ passesTo: ["none"] }, "stations[0].passesTo[0]", "there is no station none"],
  [{ passesTo: ["work"] }, "stations[0].passesTo[0]", "is the station itself"],
  [{ timeoutMinutes: 0 }, "stations[0].timeoutMinutes", "must be above 0"],
  [
    { alerts: [{ measure: "noise", above: 1, over: 1 }] },
    "stations[0].alerts[0].measure",
    "must be failure-share, cost or minutes",
  ],
  [
    { alerts: [{ measure: "failure-share", above: 2, over: 1 }] },
    "stations[0].alerts[0].above",
    "must be at most 1: it is a share",
  ],
  [{ id: "sta_01J00000000000000000000000" }, "stations[0].id", "is read-only"],
];

t.test("each thing that is wrong with a station is said at its path", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const lines = await teamLines(owner);
  for (const [index, [more, path, message]] of wrongStations.entries()) {
    const line = { key: "dev", name: "Dev", stations: [{ ...work, ...more }] };
    const answer = await createUnder(owner, lines, line, `wrong-${index}`);
    t.equal(answer.status, 422, path);
    t.same(toProblem(answer).errors, [{ path, message, severity: "error" }], JSON.stringify(more));
    t.equal(toProblem(answer).detail, `${path}: ${message}`);
  }
});

t.test("each thing that is wrong with a line is said at its path", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const lines = await teamLines(owner);
  const stacked = { ...work, check: "make", diffs: true };
  const wrong: readonly [more: object, paths: readonly string[]][] = [
    [{ stations: [] }, ["stations"]],
    [{ stations: [work, work] }, ["stations[1].key"]],
    [{ repositories: [{ name: "one" }] }, ["repositories[0].name"]],
    [{ repositories: [{ name: "a/b" }, { name: "a/b" }] }, ["repositories[1].name"]],
    [{ stations: [stacked], repositories: [{ name: "a/b", setup: "x" }, { name: "a/c" }] }, ["repositories[1].setup"]],
    [{ source: { repository: "a/b" } }, ["source.path"]],
    [{ replayCheck: {} }, ["replayCheck.mostRegressions", "replayCheck.ceiling", "replayCheck.currency"]],
    [{ replayCheck: { mostRegressions: 0, ceiling: 0, currency: "EUR" } }, ["replayCheck.ceiling"]],
    [{ "two words": 1 }, ['["two words"]']],
  ];
  for (const [index, [more, paths]] of wrong.entries()) {
    const answer = await createUnder(owner, lines, { key: "dev", name: "Dev", stations: [work], ...more }, `w${index}`);
    t.same([answer.status, toProblem(answer).errors?.map(({ path }) => path)], [422, paths], JSON.stringify(more));
  }
});

t.test("fields without effect are accepted with a warning at their paths", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const lines = await teamLines(owner);
  const plain = await owner.create(lines, { key: "plain", name: "Plain", stations: [work] });
  t.same(plain.warnings, []);
  const made = await owner.create(lines, {
    key: "all",
    name: "All",
    repositories: [{ name: "a/b", image: "node:20" }],
    replayCheck: { mostRegressions: 0, ceiling: 5, currency: "EUR" },
    stations: [
      {
        ...work,
        judge: { rubric: "Is it good?" },
        diffs: true,
        decisions: true,
        harness: "some-agent",
        alerts: [{ measure: "minutes", above: 3, over: 10 }],
      },
    ],
  });
  const warnings = made.warnings as { path: string; severity: string }[];
  t.same(
    warnings.map(({ path }) => path),
    [
      ...["repositories[0].image", "stations[0].judge", "stations[0].diffs"],
      ...["stations[0].decisions", "stations[0].alerts", "stations[0].harness"],
    ],
  );
  t.same(new Set(warnings.map(({ severity }) => severity)), new Set(["warning"]));
  t.match(made.replayCheck, { minGain: 0.05 });
});

t.test("a station keeps its id with its key, whatever else changes; a station with open tasks stays", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const lines = await teamLines(owner);
  const made = await owner.create(lines, { key: "dev", name: "Dev", stations: [work, { ...work, key: "review" }] });
  const [first, second] = made.stations as { id: string; key: string }[];
  t.match(first?.id, /^sta_[0-9A-HJKMNP-TV-Z]{26}$/);
  const one = `${base}/lines/${made.id}`;
  const changed = await replace(owner, one, 1, {
    key: "dev",
    name: "Dev",
    stations: [
      { ...second, name: "Look" },
      { ...work, key: "new" },
      { ...first, passesTo: ["new"] },
    ],
  });
  const after = changed.body?.stations as { id: string }[];
  t.same([after[0]?.id, after[2]?.id], [second?.id, first?.id]);
  t.notOk([first?.id, second?.id].includes(String(after[1]?.id)));
  const again = await replace(owner, one, 2, changed.body);
  t.same([again.status, again.body], [200, changed.body], "what was read changes nothing");

  const [, , teamId] = lines.split("/").slice(2);
  await owner.request("POST", `/api/teams/${teamId}/tasks`, { title: "Do it", line: "dev", station: "review" });
  const lost = await replace(owner, one, 2, { key: "dev", name: "Dev", stations: [work] });
  t.same([lost.status, toSlug(lost)], [409, "in-use"]);
  t.match(toProblem(lost).detail, /The station review of line core\/dev has an open task/);
});

const listPasses = (answer: unknown) =>
  z
    .object({ stations: z.array(z.object({ key: z.string(), passesTo: z.array(z.string()) })) })
    .parse(answer)
    .stations.map(({ passesTo }) => passesTo);
const listWarnings = (answer: unknown) =>
  z
    .object({ warnings: z.array(z.object({ path: z.string(), message: z.string() })) })
    .parse(answer)
    .warnings.map(({ path, message }) => `${path}: ${message}`);

t.test("a new line whose stations name no next station passes each task on to the one after", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const lines = await teamLines(owner);
  const review = { key: "review", name: "Review", kind: "review" };
  const made = await owner.create(lines, { key: "dev", name: "Dev", stations: [work, review] });
  t.same([listPasses(made), made.warnings], [[["review"], []], []]);
  const one = `${base}/lines/${made.id}`;
  t.same((await owner.request("GET", one)).body, made, "a read shows what was filled in");
  const again = await replace(owner, one, 1, { key: "dev", name: "Dev", stations: [work, review] });
  t.same([again.status, again.body], [200, made], "the same body changes nothing");
  const back = await replace(owner, one, 1, made);
  t.same([back.status, back.body], [200, made], "nor does what was read");

  const longer = await replace(owner, one, 1, {
    key: "dev",
    name: "Dev",
    stations: [work, { ...work, key: "check" }, review],
  });
  t.same([listPasses(longer.body), longer.body?.warnings], [[["check"], ["review"], []], []]);
  const cut = { key: "dev", name: "Dev", stations: [work, { ...review, passesTo: [] }] };
  const mixed = await replace(owner, one, 2, cut);
  t.same(listPasses(mixed.body), [[], []], "an empty list is an answer for all stations");
  const warned = [/^stations\[1\]: no station passes to review: /];
  t.match(listWarnings(mixed.body), warned);
  const omitted = { key: "dev", name: "Dev", stations: [work, review] };
  const kept = await replace(owner, one, 3, omitted);
  t.match(
    [kept.body?.version, listPasses(kept.body), listWarnings(kept.body)],
    [3, [[], []], warned],
    "a line that passes to none keeps it",
  );
});

t.test("a station that no chain of stations reaches is warned of, and why", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const lines = await teamLines(owner);
  const stations = [
    { ...work, passesTo: [] },
    { ...work, key: "check", passesTo: ["review"] },
    { ...work, key: "review", passesTo: ["check"] },
    { ...work, key: "ship", passesTo: ["work"] },
  ];
  const made = await owner.create(lines, { key: "dev", name: "Dev", stations });
  t.match(listWarnings(made), [
    /^stations\[1\]: no station that tasks reach passes to check: only tasks that are opened at it/,
    /^stations\[2\]: no station that tasks reach passes to review: /,
    /^stations\[3\]: no station passes to ship: /,
  ]);
});
