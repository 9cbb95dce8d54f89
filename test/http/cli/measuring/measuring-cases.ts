import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandCase, CommandScene } from "../../../support/command-cases.js";
import { listItems } from "../../../support/resources.js";

/*
 * The scene has a replay set `Measured`, with two results: a finished replay of the set's runs under the prompt of
 * `better.md`, and a finished search with a candidate `careful`.
 */

let made = 0;

/** Makes another set; returns its name. */
async function makeSet({ signalbox }: CommandScene): Promise<string> {
  made += 1;
  const name = `Made ${made}`;
  const { code, err } = await signalbox.run(["set", "add", "--new", name, "last:1"]);
  if (code !== 0) throw new Error(err);
  return name;
}

/** Returns the id of the newest replay of `Measured` under another prompt. */
async function findReplay({ person, teamId }: CommandScene): Promise<string> {
  const team = `/api/teams/${teamId}`;
  const sets = listItems(await person.request("GET", `${team}/replay-sets`));
  const measured = sets.find(({ name }) => name === "Measured");
  const replays = listItems(await person.request("GET", `${team}/replay-sets/${measured?.id}/replays`));
  const found = replays.find(({ candidate }) => Reflect.get(Object(candidate), "kind") === "proposed");
  return String(found?.id);
}

async function listSearches({ person, teamId }: CommandScene): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return listItems(await person.request("GET", `/api/teams/${teamId}/searches`));
}

async function findFinished(scene: CommandScene): Promise<string> {
  return String((await listSearches(scene)).find(({ state }) => state === "finished")?.id);
}

/** Matches the output about the finished search without `--json`. */
export const foundConfig =
  /best: careful, 100 % against 0 % on held-out tasks, \+100 points \[100, 100\], 2 tasks, 0\.06 against 0\.04 USD per run, too few/;

export const measuringCases: readonly CommandCase[] = [
  {
    name: "replay",
    args: ({ signalbox }) => {
      writeFileSync(join(signalbox.home, "same.json"), JSON.stringify({ from: "live", timeoutMinutes: 30 }));
      return ["--runs", "last:1", "--candidate", "same.json", "--ceiling", "1USD", "--no-wait"];
    },
    prints: /^started rep_\w+, within 1 USD\nshow the result with signalbox replay show rep_\w+$/,
    json: { id: /^rep_/, setId: /^rset_/, ceiling: { amount: 1, currency: "USD" } },
    wrong: ["--prompt", "better.md", "--ceiling", "2"],
  },
  {
    name: "replay show",
    args: async (scene) => [await findReplay(scene)],
    prints: /^better: 100 % against 40 %, \+60 points \[20, 100\], 5 tasks, 0\.06 against 0\.04 USD a run\n/,
    json: {
      summary: /^better: /,
      againstBaseline: { gain: 0.6, verdict: "better" },
      baselineCostPerRun: { amount: 0.04 },
    },
    wrong: ["rep_1", "rep_2"],
  },
  {
    name: "set list",
    args: () => ["--line", "core/dev", "--limit", "50"],
    prints: /^NAME +STATION +RUNS +GUARDS +LIVE +ID\n[\s\S]*Measured +work +5 +- +40 % +rset_/,
    json: { items: [{ stationKey: "work" }], hasMore: false },
    wrong: ["--limit", "none"],
  },
  {
    name: "set show",
    args: () => ["Measured"],
    prints: /^set +Measured\nid +rset_[\s\S]*live config +40 % \[0, 80\] success\nnoise +0 points between 3 copies/,
    json: { name: "Measured", entries: { length: 5 }, replays: { length: 5 } },
    wrong: ["Measured", "Other"],
  },
  {
    name: "set add",
    args: async (scene) => [await makeSet(scene), "last:3"],
    prints: /^added 2 runs to Made \d+ \(rset_\w+\), which has 3 now$/,
    json: { setId: /^rset_/, added: { length: 2 }, total: 3 },
    wrong: ["Measured"],
  },
  {
    name: "set guard",
    args: () => ["Measured"],
    prints: /^Measured guards the changes of work: signalbox check replays it$/,
    json: { name: "Measured", guardsChanges: true },
    wrong: ["--on"],
  },
  {
    name: "set delete",
    args: async (scene) => [await makeSet(scene)],
    prints: /^deleted Made \d+ \(rset_\w+\) and its replays$/,
    json: { setId: /^rset_/ },
    wrong: [],
  },
  {
    name: "search estimate",
    args: () => ["Measured", "--ceiling", "20USD", "--iterations", "1", "--per-iteration", "1"],
    prints:
      /^at most 11 runs within 20 USD[^\n]*\n\nobjective +success\nsearched tasks +3\nheld-out tasks +2\nlive config +5 runs, at most \S+ USD \([\d.]+ % of the ceiling\)\ncandidates +3 runs, each replay at most /,
    json: { searchedTasks: 3, runs: { total: 11 }, warnings: [{ kind: "too-few-to-confirm" }] },
    wrong: ["Measured", "--ceiling", "20USD", "--objective", "fame"],
  },
  {
    name: "search show",
    args: async (scene) => [await findFinished(scene)],
    prints: foundConfig,
    json: { summary: foundConfig, state: "finished", candidates: [{ name: "careful", searchScore: 1 }] },
    wrong: ["srch_1", "srch_2"],
  },
  {
    name: "search watch",
    args: async (scene) => [await findFinished(scene)],
    prints: foundConfig,
    json: { summary: foundConfig, state: "finished" },
    wrong: ["srch_1", "srch_2"],
  },
  {
    name: "search pick",
    args: async (scene) => ["careful", "--search", await findFinished(scene)],
    // The line has no source to change, so the service refuses the pick. `picked.test.ts` tests a line with a source.
    code: 1,
    prints: /^refused: .+\ncandidate +careful\nrepository +-\nbranch +config\//,
    json: { state: "refused", candidateName: "careful", reason: { code: "no-source" } },
    wrong: ["careful", "other"],
  },
  {
    name: "search start",
    args: async (scene) => {
      const running = (await listSearches(scene)).filter(({ endedAt }) => endedAt === null);
      for (const { id } of running)
        await scene.person.request("POST", `/api/teams/${scene.teamId}/searches/${id}/stop`);
      return ["Measured", "--ceiling", "20USD", "--agent", "command"];
    },
    prints: /^started srch_\w+, objective: success\nfollow it with signalbox search watch$/,
    json: { id: /^srch_/, objective: "success" },
    wrong: ["Measured", "--ceiling", "twenty"],
  },
];
