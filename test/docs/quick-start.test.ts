import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readBlocks } from "../support/page-blocks.js";
import { type BlockEnd, openReader } from "../support/reader.js";
import { until } from "../support/until.js";

/** Follows `docs/quick-start.md` with the command `signalbox`, from an empty home folder. */

const PAGE = "docs/quick-start.md";
const PAGE_URL = "http://127.0.0.1:8787";
const LOCAL = "Try it on your machine";
const TEAM = "Run a service for a team";
/** `test/http/first-steps.test.ts` follows this section. */
const HTTP = "Set up a service step by step with HTTP";

t.test("every command stands in a section that a test follows", async (t) => {
  const commands = readBlocks(readFileSync(PAGE, "utf8"), PAGE).filter(({ language }) => language === "sh");
  t.ok(commands.length > 20);
  t.same(
    commands.filter(({ headings }) => ![LOCAL, TEAM, HTTP].includes(headings[1] ?? "")),
    [],
  );
});

t.test("on one machine: a task is done, a question answered, a change applied and a replay compared", async (t) => {
  const reader = openReader(t, { env: { PORT: "0" } });
  const ends = new Map<string, BlockEnd>();
  await reader.follow(PAGE, {
    section: LOCAL,
    before: async ({ code }) => {
      if (!code.includes("task answer")) return;
      await until("the question to arrive", async () => (await reader.run("signalbox inbox")).out.includes("flaky"));
    },
    after: ({ headings }, end) => void ends.set(headings.at(-1) ?? "", end),
  });
  t.match(ends.get("Start")?.out, /http:\/\/127\.0\.0\.1:\d+/);
  t.match(ends.get("Get a task done")?.out, /^work: completed, handed over to review$[\s\S]*^done$/m);
  t.match(ends.get("Answer a question")?.out, /^answered: [\s\S]*^done$/m);
  t.match(
    ends.get("Apply the change")?.out,
    /^\+> The second one$[\s\S]*^A {2}signalbox-notes\/which-test-is-flaky\.md$/m,
  );
  t.match(readFileSync(join(reader.repository, "signalbox-notes/which-test-is-flaky.md"), "utf8"), /The second one/);
  t.match(
    ends.get("Compare a replay")?.out,
    /^(better|worse|within noise|equal)[^\n]*: [\d.]+ % against [\d.]+ %[\s\S]* 3 of 3 copies, 0 of 2 USD$/m,
  );
});

t.test("for a team: a service, a sign-in, a first setup, a runner and a first task", async (t) => {
  const reader = openReader(t);
  const logPath = join(reader.home, "service.log");
  const values: Record<string, string> = { "signalbox serve": `PORT=0 signalbox serve | tee '${logPath}'` };
  const log = async (pattern: RegExp) => until(`${pattern}`, () => pattern.exec(readFileSync(logPath, "utf8"))?.[1]);
  const ends = new Map<string, BlockEnd>();
  await reader.follow(PAGE, {
    section: TEAM,
    values,
    before: async ({ code }) => {
      if (!code.includes("signalbox login")) return;
      // Without a terminal, the command requests the mail and then needs the link as an option.
      const url = await log(/listening on (http:[^"]+)/);
      values[PAGE_URL] = url;
      const asked = await reader.run(code.replace(PAGE_URL, url));
      t.match(asked, { code: 64, err: /sent a sign-in link to you@example\.com .*find the link in the service's log/ });
      values["--email you@example.com"] = `--link ${await log(/(http:\S+\/sign-in\/[\w-]+)/)}`;
    },
    after: ({ headings }, end) => {
      ends.set(headings.at(-1) ?? "", end);
      const token = /SIGNALBOX_POOL_TOKEN=([\w-]{43}) /.exec(end.out)?.[1];
      if (token !== undefined) values["<token of the pool>"] = token;
    },
  });
  t.match(ends.get("Sign in")?.out, /signed in to http:\S+ as you@example\.com/);
  t.match(ends.get("Set up a team")?.out, /workspace +acme \(created\)[\s\S]*line +main \(work, review\) \(created\)/);
  t.match(ends.get("Open the first task")?.out, /Working on: [\s\S]*^done$[\s\S]*^\+.*Describe the project$/m);
  const rotated = await reader.run("signalbox pool rotate main --yes");
  t.match(rotated, { code: 0, out: /^[\w-]{43}\n$/ });
});
