import fc from "fast-check";
import { parse } from "marked";
import t from "tap";
import { checkSchema } from "../../../../http/cli/check/check-answer.js";
import type { Outcome } from "../../../../http/cli/check/outcome.js";
import { toLogLine, withoutSecrets } from "../../../../http/cli/check/plain-text.js";
import { codeSpan, linkTo, writeSummary } from "../../../../http/cli/check/summary.js";
import { failedCheck, toCheck } from "./checks.js";

const url = "https://signalbox.example";
const title = "core/dev/work";
const checked = (changes: object = {}): Outcome => ({ title, what: "checked", check: toCheck(changes) });

const hostile = [
  "<script>alert(1)</script><img src=x onerror=alert(1)>",
  "@acme/owners please look, @ada",
  "](https://evil.example) [click](javascript:alert(1)) ![](https://evil.example/x.png)",
  "`` ` ``` `<b>",
  "`",
  "a | b | c\n| --- |\n\n# Heading\n\n- [x] list\r\n::set-output name=x::y",
  "https://evil.example #12 GH-3 acme/app#4 :tada: $x^2$ &lt;b&gt; <!-- -->",
  "\u202egnp.exe \u0000\u001b[31m\u2028 a\ud800b",
  "*".repeat(10_000),
];

/** Returns the page without its code. Foreign text must be in code only, so the returned text must not contain any. */
function outsideCode(markdown: string): string {
  return parse(markdown)
    .replace(/<code>[^<]*<\/code>/g, "")
    .replace(/ id="[^"]*"/g, "");
}

t.test("a page says the verdict, both sides with their intervals, what regressed and what was kept", async (t) => {
  const warnings = [{ kind: "false-failure", text: "A change that changes nothing fails with a chance of 6 %." }];
  const page = writeSummary([checked({ warnings, replayUrl: "https://signalbox.example/r/1" })], url);
  const wanted = [
    "## ❌ Replay check: failed",
    "### ❌ `core/dev/work`: failed",
    "Failed: 2 of 19 tasks that both sides scored regressed, 1 may.",
    "| planned change | 70.0 % (52.1 % to 85.0 %) | 19 of 20 | 40, 57, 60 | 3.2 EUR of 10 EUR | finished |",
    "| live config | 96.5 % (90.0 % to 100.0 %) | 19 of 20 | 55, 57, 60 | 3.2 EUR of 10 EUR | finished |",
    "- Gain (does not affect the verdict): within noise: -10.0 points (-21.0 to +1.0), 19 tasks; 5.0 points count as real.",
    "- Warning: `A change that changes nothing fails with a chance of 6 %.`",
    "- Kept at the live values: `check`, `judge`. Planned changes to these were not replayed.",
    "  - `Mend the door` (`task_0`): live 3 of 3 succeeded, planned 0 of 2 succeeded, 1 not scored",
    "    - `check-failed`: `exit code 1`",
    "- Check `rchk_1` over `Hard ones`, attempt 1, 3 copies of each run; [the replay](<https://signalbox.example/r/1>); " +
      "read it at `https://signalbox.example/api/teams/team_1/replay-checks/rchk_1`.",
  ];
  for (const line of wanted) t.ok(page.split("\n").includes(line), line);
});

t.test("what could not be asked, was not replayed or is still running says why", async (t) => {
  const page = writeSummary(
    [
      { title, what: "not-asked", why: "The line has no replay_check.", check: null },
      { title: "core/dev/other", what: "nothing-to-replay", why: "The plan removes this station." },
      {
        title: "core/dev/third",
        what: "still-running",
        check: toCheck({ verdict: "running", regressions: [] }),
        why: "The time limit of 5 minutes has passed.",
      },
    ],
    url,
  );
  t.match(page, /^## ⚠️ Replay check: could not be asked\n/);
  for (const words of [
    "`The line has no replay_check.`",
    "### ➖ `core/dev/other`: nothing to replay",
    "`The time limit of 5 minutes has passed.`",
    "Still checking: 0 of 19 tasks",
  ])
    t.ok(page.includes(words), words);
  t.match(writeSummary([], url), /Replay check: nothing to replay\n\nThe plan changes no work station/);
  const few = { ...failedCheck.gain, few: true, tasks: 3 };
  t.match(writeSummary([checked({ gain: few })], url), /3 tasks, too few for a reliable result/);
  const none = { ...failedCheck.candidate, successRate: null, interval: null, state: null, spent: null };
  const gone = writeSummary(
    [checked({ verdict: "undecided", undecidedBecause: "replay-gone", candidate: none, gain: null })],
    url,
  );
  t.match(gone, /Undecided: replay is gone; 2 of 19/);
  const early = { regressions: [], compared: 0, gain: null };
  const stopped = writeSummary([checked({ ...early, verdict: "undecided", undecidedBecause: "stopped" })], url);
  t.match(stopped, /Undecided: replay was stopped; no task compared yet\.\n/);
  t.match(writeSummary([checked({ ...early, verdict: "running" })], url), /Still checking: no task compared yet\.\n/);
  t.match(gone, /\| planned change \| none scored \| 19 of 20 \| 40, 57, 60 \| nothing of 10 EUR \| not there \|/);
});

t.test("titles, reasons, names and sentences of others are no Markdown, no HTML and no mention", async (t) => {
  const base = outsideCode(writeSummary([checked()], url));
  for (const [index, text] of hostile.entries()) {
    const regressions = failedCheck.regressions.map((each) => ({
      ...each,
      title: text,
      taskId: text,
      reasons: [{ code: text, detail: text }],
    }));
    const of = { regressions, warnings: [{ text }], keptLive: [text, text], setName: text, replayUrl: text };
    const check = toCheck(of);
    const page = writeSummary([{ title: text, what: "checked", check }], url);
    const html = outsideCode(page);
    const tags = (of: string) =>
      [...of.matchAll(/<\/?[a-z0-9]+/g)].map(([tag]) => tag).filter((tag) => !/<\/?(li|ul|p|a)$/.test(tag));
    t.same(tags(html).slice(0, 20), tags(base).slice(0, 20), `text ${index}`);
    t.notMatch(html, /evil|alert|@|owners|gnp|Heading|tada|GH-3/, `text ${index}`);
    const why = writeSummary([{ title: text, what: "not-asked", why: text, check: null }], url);
    t.notMatch(outsideCode(why), /evil|alert|@|owners|gnp|Heading|tada|GH-3|<b>|<img/, `text ${index}`);
  }
});

t.test("words of the service that stand outside of code are words, or its answer is not understood", async (t) => {
  const { candidate, gain, threshold } = failedCheck;
  const money = { amount: 1, currency: "EUR" };
  const answers = (word: string, currency: string) => [
    { ...failedCheck, undecidedBecause: word },
    { ...failedCheck, candidate: { ...candidate, state: word } },
    { ...failedCheck, gain: { ...gain, verdict: word } },
    { ...failedCheck, candidate: { ...candidate, spent: { ...money, currency } } },
    { ...failedCheck, threshold: { ...threshold, ceiling: { ...money, currency } } },
  ];
  for (const known of answers("a-word", "USD")) t.ok(checkSchema.safeParse(known).success);
  for (const text of [...hostile, "", "EURO|", "a--b"]) {
    for (const answer of answers(text, text)) t.notOk(checkSchema.safeParse(answer).success);
  }
});

t.test("any text in a code span is one code element and nothing else", async () => {
  const text = fc.string({ unit: fc.constantFrom(..."`` \\<>@#[]()|*_~!&\n\tab\u200b"), maxLength: 40 });
  fc.assert(
    fc.property(text, (each) => /^<p>x <code>[^<]*<\/code> y<\/p>\n$/.test(parse(`x ${codeSpan(each, 100)} y`))),
    { numRuns: 2_000 },
  );
});

t.test("a page is bounded, whatever its parts are", async (t) => {
  const many = Array.from({ length: 500 }, (_, index) => ({
    taskId: `task_${index}`,
    title: "x".repeat(5_000),
    candidate: ["failed"],
    baseline: ["succeeded"],
    reasons: Array.from({ length: 50 }, () => ({ code: "check-failed", detail: "y".repeat(5_000) })),
  }));
  const outcomes = Array.from({ length: 100 }, () => checked({ regressions: many }));
  const page = writeSummary(outcomes, url);
  t.ok(Buffer.byteLength(page) < 600 * 1024, `${Buffer.byteLength(page)} bytes`);
  t.match(page, "and 480 more");
  t.match(page, /\n- ❌ `core\/dev\/work`: failed\n/, "those that are left have a line each");
});

t.test("a page of very many stations is below 1 MiB, and counts those that it leaves out", async (t) => {
  const wide = "\u{1f6aa}".repeat(300);
  const outcomes = Array.from({ length: 20_000 }, (_, index): Outcome => {
    const name = `${index}/${wide}`;
    if (index % 2 === 0) return { title: name, what: "nothing-to-replay", why: wide };
    return { title: name, what: "not-asked", why: wide, check: null };
  });
  const page = writeSummary(outcomes, url);
  const bytes = Buffer.byteLength(page);
  t.ok(bytes > 700 * 1024 && bytes < 1024 ** 2, `${bytes} bytes`);
  const shown = page.split("\n").filter((line) => /^(###|-) (⚠️|➖) `/.test(line)).length;
  const [, left, ofThem, none] =
    /\n- and (\d+) more: ⚠️ (\d+) could not be asked, ➖ (\d+) nothing to replay\n/.exec(page) ?? [];
  t.equal(shown + Number(left), outcomes.length);
  t.equal(Number(ofThem) + Number(none), Number(left));
});

t.test("only an address of the web is a link", async (t) => {
  t.equal(linkTo("javascript:alert(1)", "it"), null);
  t.equal(linkTo("/relative", "it"), null);
  t.equal(linkTo("https://a.example/x>)](y|z", "it"), "[it](<https://a.example/x%3E)](y%7Cz>)");
});

t.test("a line of the log holds no command of a CI, no control character and no secret", async (t) => {
  t.equal(toLogLine("::error::it\n::add-mask::x", 100), "error::it ::add-mask::x");
  t.equal(toLogLine("core: ##[group]a\u001b[31mb\r\n", 100), "core: ## [group]a [31mb");
  t.equal(toLogLine("x".repeat(200), 10), `${"x".repeat(9)}…`);
  t.equal(withoutSecrets("a token-1 and token-1", ["", "token-1"]), "a *** and ***");
});
