import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Command } from "commander";
import t, { type Test } from "tap";
import { type CheckOptions, declareCheck } from "../../../../http/cli/check/command-line.js";
import { Ending } from "../../../../http/cli/check/ending.js";
import { readWish } from "../../../../http/cli/check/read-wish.js";
import { openSignalbox } from "../../../support/signalbox.js";
import { failedCheck, runningCheck } from "./checks.js";
import { type Scripted, startScripted } from "./scripted-service.js";

/** Tests the command as a process: its exit codes, signals and files, and the secrets that it must not print. */

const program = resolve("http/cli/signalbox.mjs");
const secret = "kept-token-canary";

interface Running {
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  /** Resolves once the command has written the text. */
  says(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

function check(t: Test, args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const child = spawn(process.execPath, [program, "check", ...args], { env: { PATH: process.env.PATH ?? "", ...env } });
  let [out, err] = ["", ""];
  const waiting = new Set<() => void>();
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    for (const look of waiting) look();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  child.stdin.end(JSON.stringify({ key: "work", name: "Work", kind: "work", prompt: "New." }));
  t.teardown(() => void child.kill("SIGKILL"));
  return {
    ended: new Promise((done) => child.once("close", (code) => done({ code, out, err }))),
    says: (text) =>
      new Promise((done) => {
        const look = () => (out.includes(text) ? done() : undefined);
        waiting.add(look);
        look();
      }),
    kill: (signal) => void child.kill(signal),
  };
}

const line = {
  id: "line_1",
  teamId: "team_1",
  address: "core/dev",
  repositories: [],
  stations: [{ key: "work", name: "Work", kind: "work", prompt: "Old." }],
};

const serve = (t: Test, check: object) =>
  startScripted(t, ({ path, method }): Scripted => {
    if (path.includes("/lines/")) return { status: 200, body: line };
    return { status: method === "POST" ? 201 : 200, body: check };
  });

function summaryFile(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-check-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "summary.md"), "before\n");
  return join(folder, "summary.md");
}

t.test("a wrong command line or plan ends with 3, never with what says that a change failed", async (t) => {
  const access = ["--url", "http://127.0.0.1:9", "--token", secret];
  const [wrong, unread] = await Promise.all([
    check(t, ["--url", "http://127.0.0.1:9", "-"]).ended,
    check(t, [...access, "/nowhere/plan.json"]).ended,
  ]);
  t.same([wrong.code, wrong.out], [3, ""]);
  t.match(wrong.err, /^error: a credential is required: [^\n]*SIGNALBOX_TRUST[^\n]*\n$/);
  t.equal(unread.code, 3);
  t.match(unread.out, /^the plan: could not be asked: Cannot read the plan from \/nowhere\/plan\.json: ENOENT\.\n/);
});

t.test("what is wrong with a command line is said in one line, without what is secret", async (t) => {
  const url = ["--url", "http://127.0.0.1:9"];
  const access = [...url, "--token", secret];
  const { run } = openSignalbox(t);
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /^error: missing required argument 'plan'$/],
    [["-"], /^error: required option '--url <url>' not specified, and nobody is signed in: run signalbox login <url>/],
    [["--token", secret, "-"], /^error: a token needs the address of its service: give --url/],
    [["--url", "ftp://x", "-"], /^error: .*It must be an http or https address\.$/],
    [["--url", "http://ada:pw-canary@x", "--token", "t", "-"], /^error: --url must hold no credentials$/],
    [[...access, "--line", "a b", "-"], /^error: .*It must be the line's id/],
    [[...access, "--every", "0", "-"], /^error: .*It must be above 0, and 3600 at most\.$/],
    [[...access, "--time-limit", "40000", "-"], /^error: .*It must be above 0, and 30000 at most\.$/],
    [[...access, "--repeats", "1.5", "-"], /^error: .*It must be a whole number from 1 to 5\.$/],
    [[...access, "--repeats", "9", "-"], /^error: .*It must be a whole number from 1 to 5\.$/],
    [access, /^error: missing required argument 'plan'$/],
    [[...access, "--trust", "x", "-"], /^error: both a token and a trust are set/],
    [[...url, "--token", `${secret}\n`, "-"], /^error: the token must consist of visible ASCII characters$/],
    [[...url, "--trust", "x", "-"], /^error: this job has no OIDC token: .*id-token: write/],
  ];
  for (const [args, wanted] of cases) {
    const { code, out, err } = await run(["check", ...args]);
    t.same([code, out], [3, ""], args.join(" "));
    t.match(err, wanted);
    t.notMatch(err, /canary/);
  }
});

t.test("a failed check ends with 1, and its page is appended to the job's", async (t) => {
  const { url } = await serve(t, { ...failedCheck, setName: secret });
  const file = summaryFile(t);
  const env = { SIGNALBOX_URL: `${url}/`, SIGNALBOX_TOKEN: secret, GITHUB_STEP_SUMMARY: file };
  const { code, out, err } = await check(t, ["--line", "line_1", "-"], env).ended;
  t.same([code, err], [1, ""]);
  t.match(out, /\ncore\/dev\/work: failed: 2 of 19 tasks that both sides scored regressed, 1 may\n/);
  t.match(out, `core/dev/work: read it at ${url}/api/teams/team_1/replay-checks/rchk_1\n`);
  t.match(out, /\nreplay check: failed\n$/);
  const page = readFileSync(file, "utf8");
  t.match(page, /^before\n## ❌ Replay check: failed\n/);
  t.match(page, "over `***`", "a secret that the service answers is not written");
  t.notMatch(out + page, secret);
  const unwritten = await check(t, ["--line", "line_1", "-"], { ...env, GITHUB_STEP_SUMMARY: "/nowhere/x" }).ended;
  t.same([unwritten.code, unwritten.err], [1, "cannot write the summary to /nowhere/x: ENOENT\n"]);
});

t.test("interrupted, it says that the check goes on and where, and its page does", async (t) => {
  const { url } = await serve(t, runningCheck);
  for (const [signal, wanted] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    const file = summaryFile(t);
    const running = check(t, ["--url", url, "--line", "line_1", "--every", "600", "--summary", file, "-"], {
      SIGNALBOX_TOKEN: secret,
    });
    await running.says("rchk_1 started");
    running.kill(signal);
    const { code, out } = await running.ended;
    t.equal(code, wanted);
    t.match(out, `core/dev/work: undecided: The command was interrupted (${signal}). The check continues.\n`);
    t.match(out, `read it at ${url}/api/teams/team_1/replay-checks/rchk_1\n`);
    t.match(readFileSync(file, "utf8"), /Still checking/);
  }
});

t.test("once its time limit is over it is told to end, and why", async (t) => {
  const ending = new Ending(1);
  t.teardown(() => ending.end());
  if (!ending.ended.aborted) await once(ending.ended, "abort");
  t.match(ending.why, /^The time limit of 0\.0000\d+ minutes has passed\.$/);
  t.equal(ending.signal, null);
});

t.test("options go before what the CI says of its job", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-event-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const event = join(folder, "event.json");
  writeFileSync(event, JSON.stringify({ pull_request: { number: 7, head: { sha: "abcdef1" } } }));
  const parse = (args: readonly string[]) => {
    const command = new Command();
    declareCheck(command);
    return command.parse(args, { from: "user" }).opts<CheckOptions>();
  };
  const read = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    readWish(parse(["--url", "https://x/", "--token", "t", ...args, "plan.json"]), "plan.json", { env, folder });
  const github = { GITHUB_SHA: "merge01", GITHUB_RUN_ID: "99", GITHUB_RUN_ATTEMPT: "2", GITHUB_EVENT_PATH: event };
  t.same(read([], github).job, { commit: "abcdef1", pullRequest: 7, attempt: "99/2" });
  t.same(read([], { ...github, GITHUB_EVENT_PATH: "/nowhere" }).job, {
    commit: "merge01",
    pullRequest: null,
    attempt: "99/2",
  });
  t.same(read([], {}).job, { commit: null, pullRequest: null, attempt: null });
  const given = ["--commit", "1234567", "--pull-request", "8", "--attempt", "x", "--station", "a", "--station", "b"];
  t.match(read(given, github), {
    url: "https://x",
    file: "plan.json",
    line: null,
    stations: ["a", "b"],
    repeats: null,
    summary: null,
    job: { commit: "1234567", pullRequest: 8, attempt: "x" },
  });
});

t.test("as JSON it prints its verdict with the checks, and its progress elsewhere", async (t) => {
  const { url } = await serve(t, { ...failedCheck, setName: secret });
  const { code, out, err } = await check(t, ["--url", url, "--line", "line_1", "--json", "-"], {
    SIGNALBOX_TOKEN: secret,
  }).ended;
  t.equal(code, 1, err);
  t.match(JSON.parse(out), { verdict: "failed", outcomes: [{ title: "core/dev/work", what: "checked" }] });
  t.match(err, /\nreplay check: failed\n$/);
  t.notMatch(out + err, secret);
});
