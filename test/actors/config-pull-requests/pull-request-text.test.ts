import t from "tap";
import type {
  ComparedFigures,
  Evidence,
  PickedConfig,
  SideFigures,
} from "../../../actors/config-pull-requests/picked-config.js";
import {
  disarm,
  escapeMarkdown,
  toBody,
  toCommitMessage,
  toTitle,
} from "../../../actors/config-pull-requests/pull-request-text.js";
import type { Gain } from "../../../actors/statistics/gain.js";
import { pickedConfig } from "../../support/picked-world.js";
import { teamId } from "../../support/work.js";

const row = { candidateName: "careful", stationKey: "work", teamId, searchId: "srch_1" };
const baseUrl = "https://here.example";

const side = (rate: number, amount: number | null, tasks = 6): SideFigures => ({
  success: { rate, low: rate - 0.1, high: rate + 0.1 },
  scored: 2 * tasks,
  tasks,
  cost: amount === null ? null : { amount, low: amount - 0.25, high: amount + 0.25, currency: "EUR" },
});
const toGain = (gain: number, more: Partial<Gain> = {}): Gain => ({
  gain,
  low: gain - 0.1,
  high: gain + 0.1,
  verdict: "better",
  minGain: 0.05,
  tasks: 6,
  few: false,
  ...more,
});
const searched: ComparedFigures = {
  live: side(0.5, 1.2),
  candidate: side(0.75, 1.5),
  gain: toGain(0.25),
  worse: { tasks: 1, of: 6 },
  judgedWorse: { tasks: 2, of: 5 },
};
const heldOut: ComparedFigures = {
  live: side(0.6, null, 5),
  candidate: side(0.5, null, 5),
  gain: toGain(-0.1, { verdict: "within-noise", tasks: 5 }),
  worse: null,
  judgedWorse: null,
};
const evidence: Evidence = {
  objective: "success",
  searched,
  heldOut,
  onlyOnSeenTasks: "marked",
  heldOutCost: { tasks: 5, cheaper: false },
  replays: { live: "rep_0", searched: "rep_1", heldOut: "rep_2" },
};

function readBody(more: Partial<PickedConfig> = {}, of = row): string {
  return toBody({ row: of, lineKey: "dev", baseUrl, picked: { ...pickedConfig, evidence, ...more } });
}

t.test(
  "it says what changes, success and cost of both sides with intervals and n, the gains, and what got worse",
  async (t) => {
    const body = readBody();
    const lines = [
      "Changes station `work` of line `dev` to what candidate careful of a search holds. A person picked it.",
      "The search agent's hypothesis: It reads first.",
      "| harness | changed | command | claude |",
      "| success, tasks it was selected on | 50.0 % (40.0 % to 60.0 %), n = 6 tasks, 12 runs | 75.0 % (65.0 % to 85.0 %), n = 6 tasks, 12 runs |",
      "| cost of a run, tasks it was selected on | 1.20 (0.95 to 1.45) EUR, n = 6 tasks, 12 runs | 1.50 (1.25 to 1.75) EUR, n = 6 tasks, 12 runs |",
      "| success, held-out tasks | 60.0 % (50.0 % to 70.0 %), n = 5 tasks, 10 runs | 50.0 % (40.0 % to 60.0 %), n = 5 tasks, 10 runs |",
      "- **Gain on held-out tasks: -10.0 points (-20.0 points to 0.0 points), n = 5 tasks: within noise, where 5.0 points count as real.** They were not used for selection.",
      "- Gain on the tasks it was selected on: 25.0 points (15.0 points to 35.0 points), n = 6 tasks: better, where 5.0 points count as real. The best of many useless candidates would also show a gain here.",
      "- A run on held-out tasks does not cost significantly less, n = 5 tasks.",
      "- **The gain appears only on tasks that the candidate was selected on.**",
      "- A run on tasks it was selected on costs more: 1.20 (0.95 to 1.45) EUR, n = 6 tasks, 12 runs, now 1.50 (1.25 to 1.75) EUR, n = 6 tasks, 12 runs.",
      "- 1 of 6 tasks it was selected on succeeded less often than under the live config.",
      "- The judge found the work on 2 of 5 tasks it was selected on worse, side by side.",
      "- Success on held-out tasks: 60.0 % (50.0 % to 70.0 %), n = 5 tasks, 10 runs, now 50.0 % (40.0 % to 60.0 %), n = 5 tasks, 10 runs.",
      "- [The search](https://here.example/api/teams/team_1/searches/srch_1)",
      "- [The replay of the live config](https://here.example/api/teams/team_1/replays/rep_0)",
      "- [The candidate's replay on the tasks it was selected on](https://here.example/api/teams/team_1/replays/rep_1)",
      "- [The candidate's replay on held-out tasks](https://here.example/api/teams/team_1/replays/rep_2)",
      "These links require sign-in.",
    ];
    for (const line of lines) t.ok(body.split("\n").includes(line), line);
  },
);

t.test("what is not known is said to be, and few tasks tell nothing", async (t) => {
  const unknown = readBody({ evidence: pickedConfig.evidence, hypothesis: null });
  t.match(unknown, /\| success, held-out tasks \| not known yet \| not known yet \|/);
  t.match(unknown, /Gain on held-out tasks: not known; nothing confirms the gain\./);
  t.match(unknown, /The result on held-out tasks is not known yet\./);
  t.notMatch(unknown, /agent's hypothesis|undefined|null|NaN/);
  const few = { ...heldOut, gain: toGain(1, { tasks: 2, few: true }), candidate: side(0.9, null) };
  const body = readBody({ evidence: { ...evidence, heldOut: few, onlyOnSeenTasks: "too-few-held-out" } });
  t.match(body, /n = 2 tasks: fewer than 5 tasks, too few to decide\.\*\*/);
  t.match(body, /\*\*Too few tasks were held out to decide/);
  const good = {
    live: side(0.5, 2),
    candidate: side(0.9, 1),
    gain: toGain(0.4),
    worse: { tasks: 0, of: 6 },
    judgedWorse: null,
  };
  const best = readBody({ evidence: { ...evidence, searched: good, heldOut: good, onlyOnSeenTasks: null } });
  t.match(best, /### What got worse\n\n- Nothing that was measured\./);
});

t.test("values are as the API shows them: hidden ones are not there, others stand in their cell", async (t) => {
  const body = readBody({
    changes: [
      { part: "prompt", name: null, kind: "changed", was: null, now: null },
      { part: "skill", name: "indexing", kind: "added", was: null, now: null },
      { part: "judge", name: "rubric", kind: "removed", was: null, now: null },
      { part: "model", name: null, kind: "added", was: null, now: "a|b\n| c | `d` @octocat" },
      { part: "tool", name: "read", kind: "changed", was: { approval: false }, now: { approval: true } },
    ],
  });
  t.match(body, "| prompt | changed | not shown here | not shown here |");
  t.match(body, "| skill indexing | added | none | not shown here |");
  t.match(body, "| judge rubric | removed | not shown here | none |");
  t.match(body, "| model | added | none | a\\|b \\| c \\| \\`d\\` (at)octocat |");
  t.match(body, '| tool read | changed | {"approval":false} | {"approval":true} |');
  const long = readBody({
    hypothesis: "& ".repeat(100_000),
    changes: Array.from({ length: 200 }, () => ({
      part: "model",
      name: "&".repeat(9_999),
      kind: "changed" as const,
      was: "&".repeat(9_999),
      now: "|".repeat(9_999),
    })),
  });
  t.match(long, /\n\| \d+ more \| \| \| \|\n/);
  t.ok(long.length < 65_536, `${long.length} characters, which GitHub takes`);
});

t.test("a hostile name and hypothesis do nothing in title, body and commit", async (t) => {
  const hostile = "Fixes #1 @octocat [skip ci] https://evil.example <b>x</b> \n\nSigned-off-by: a@b.example";
  const of = { ...row, candidateName: hostile };
  const body = readBody({ hypothesis: hostile }, of);
  const texts = [toTitle({ row: of, lineKey: "dev" }), toCommitMessage({ row: of, lineKey: "dev" }), body];
  for (const text of texts) t.notMatch(text, /#1|@|\[skip|evil|^Signed-off/m);
  t.notMatch(body, /<b>/);
  t.notMatch(texts[0], /\n/);
  t.ok((texts[0]?.length ?? 999) <= 250);
});

const MAIL = "ada.lovelace+x@mail.example.com";

t.test("what an agent wrote notifies nobody, closes, links and skips nothing", async (t) => {
  const cases: readonly [string, RegExp][] = [
    ["ask @octocat and @acme/core, also \uFF20octocat and @\u200boctocat", /@|\uFF20/],
    [`write to ${MAIL}`, /ada|lovelace|mail\.example|@/],
    ["Fixes #12, closes acme/app#3, resolves GH-4; see ABC-77 \uFF034", /#|\uFF03|GH-4|ABC-77/],
    ["Fixes https://code.example/acme/app/issues/12", /https?:|issues\/12/],
    ["see http://evil.example/x?y, www.evil.example, ftp://a.b, HTTPS://A.B", /evil|ftp|:\/\/|www/i],
    ["[click](javascript:alert(1)) ![x](//evil.example/a.png) [a]: b", /[[\]]|alert/],
    ["mailto:someone", /mailto/],
    ["[skip ci] [ci skip] [no ci] [skip actions] skip-checks: true", /\[|skip-checks/],
    ["task_01J0000000000000000ABCDEFG run_01j0000000000000000abcdefg", /01J0000/i],
    ["as in 4f2c9a1d0b, 0123456789012345678901234567890123456789", /4f2c9a1d0b|01234567/],
    ["one\r\n\r\nCo-authored-by: x\u2028two\u0000\u202e", /\p{Cc}|\u2028|\u202e/u],
    ["half \ud83d of one", /\ud83d/],
  ];
  for (const [n, [text, forbidden]] of cases.entries()) t.notMatch(disarm(text), forbidden, `case ${n}`);
  t.equal(
    disarm("It fixes gpt-5's habit: read first, then (perhaps) write."),
    "It fixes gpt-5's habit: read first, then (perhaps) write.",
  );
  t.equal(disarm("\u00e9t\u00e9 \ud83d\ude00"), "\u00e9t\u00e9 \ud83d\ude00");
});

t.test("what is disarmed stays so when it is disarmed again, and after Unicode has its way with it", async (t) => {
  for (const text of [
    "\uFF20\uFF20a",
    "##1",
    "GHGH-1",
    "hthttp://tp://x",
    "[[x]]",
    "@@a@b.c@d.e",
    "&#64;octocat &commat;x",
  ]) {
    const once = disarm(text);
    t.equal(disarm(once), once);
    t.notMatch(once.normalize("NFKC"), /@|#\d|GH-\d|:\/\/|[[\]]/);
  }
});

t.test("it has 500 characters at most, whole ones, however long what was written is", async (t) => {
  t.equal(disarm("x ".repeat(1_000)).length, 500);
  t.match(disarm("x ".repeat(1_000)), /…$/);
  t.equal(disarm("x".repeat(500)).length, 500);
  const emoji = disarm("\ud83d\ude00".repeat(400));
  t.notMatch(emoji, /\p{Cs}/u);
  t.ok(emoji.length <= 500);
  for (const text of ["@", "#", "www.", "a@", "a.", "1", "\n", "[", "h://", "A-"]) {
    const begunMs = process.cpuUsage().user;
    t.ok(disarm(text.repeat(200_000)).length <= 500);
    t.ok(process.cpuUsage().user - begunMs < 5_000_000, `${JSON.stringify(text)} is no trap`);
  }
});

t.test("Markdown shows it as it is", async (t) => {
  t.equal(
    escapeMarkdown("a *b* _c_ `d` ~e~ | <img src=x> &amp; \\ !$x$"),
    "a \\*b\\* \\_c\\_ \\`d\\` \\~e\\~ \\| &lt;img src=x&gt; &amp;amp; \\\\ \\!\\$x\\$",
  );
});
