import t, { type Test } from "tap";
import { type CheckPlanOptions, checkPlan } from "../../../../http/cli/check/check-plan.js";
import { type Outcome, toWorst, verdictCodes } from "../../../../http/cli/check/outcome.js";
import { writeProgress } from "../../../../http/cli/check/progress.js";
import { readPlan } from "../../../../http/cli/check/read-plan.js";
import { failedCheck, passedCheck, runningCheck } from "./checks.js";
import { planText } from "./planned-lines.js";
import { type Came, type Scripted, startScripted } from "./scripted-service.js";

const work = { key: "work", name: "Work", kind: "work", prompt: "Old." };
const other = { key: "other", name: "Other", kind: "work", prompt: "Old." };
const line = {
  id: "line_1",
  teamId: "team_1",
  address: "core/dev",
  key: "dev",
  repositories: [{ name: "acme/app" }],
  stations: [work, other],
};
const toPlan = (...prompts: readonly string[]) =>
  JSON.stringify({
    ...line,
    stations: line.stations.map((each, at) => ({ ...each, prompt: prompts[at] ?? each.prompt })),
  });

interface Ran {
  readonly outcomes: readonly Outcome[];
  readonly code: number;
  readonly came: readonly Came[];
  readonly said: readonly string[];
}

/**
 * Checks a plan against a service with scripted checks. `checks` returns the answers; `nth` is the number of the
 * request about checks, counted from 1.
 */
async function run(
  t: Test,
  plan: string,
  checks: (came: Came, nth: number, end: () => void) => Scripted,
  options: Partial<CheckPlanOptions> = {},
): Promise<Ran> {
  let nth = 0;
  let why = "";
  const scripted = await startScripted(t, (came) => {
    if (isOfChecks(came)) {
      nth += 1;
      return checks(came, nth, end);
    }
    if (came.path === "/api/resources/workspaces")
      return { status: 200, body: { items: [{ id: "ws_1", slug: "acme" }] } };
    const isKnown = /lines\/(line_1$|import\?address=core%2Fdev$)/.test(came.path);
    return isKnown ? { status: 200, body: line } : { status: 404, body: { detail: "There is no line." } };
  });
  const end = () => {
    why = "The time limit of 1 minutes has passed.";
    scripted.end();
  };
  const said: string[] = [];
  const { service, requests } = scripted;
  const outcomes = await checkPlan(readPlan(plan, "plan.json"), {
    service,
    requests,
    line: null,
    stations: null,
    commit: "abcdef1",
    pullRequest: 7,
    repeats: 3,
    attempt: "9/1",
    everyMs: 10_000,
    whyEnded: () => why,
    progress: writeProgress((line) => said.push(line), requests.nowMs),
    ...options,
  });
  return { outcomes, code: verdictCodes[toWorst(outcomes)], came: scripted.came.filter(isOfChecks), said };
}

function isOfChecks({ path }: Came): boolean {
  return path.includes("/replay-checks");
}

const nothing = { type: "urn:service:problem:nothing-to-replay", detail: "The plan changes nothing that runs." };

t.test("a check is started with what is planned, and awaited", async (t) => {
  const { code, came, outcomes, said } = await run(t, toPlan("New."), (_, nth) =>
    nth === 1
      ? { status: 201, body: { ...runningCheck, warnings: [{ text: "It may fail by chance." }] } }
      : { status: 200, body: nth < 4 ? runningCheck : passedCheck },
  );
  t.equal(code, 0);
  t.match(outcomes, [
    { title: "core/dev/work", what: "checked", check: { warnings: [{ text: "It may fail by chance." }] } },
  ]);
  t.match(came[0], { method: "POST", path: "/api/teams/team_1/replay-checks" });
  t.same(came[0]?.body, {
    lineId: "line_1",
    stationKey: "work",
    station: { ...work, prompt: "New." },
    line: { repositories: line.repositories },
    reference: { commit: "abcdef1", pullRequest: 7 },
    repeats: 3,
  });
  t.match(came[0]?.headers["idempotency-key"], /^replay-check-[0-9a-f]{64}$/);
  t.equal(came.length, 4);
  t.match(
    said[0],
    /^core\/dev\/work: rchk_1 started \(attempt 1\): 20 tasks, 3 copies of each run, at most 10 EUR a replay$/,
  );
  t.match(said[1], /^core\/dev\/work: warning: It may fail by chance\.$/);
});

t.test("a check that waits says for what, once", async (t) => {
  const since = "2026-01-01T00:00:00.000Z";
  const waiting = (what: string) => ({ ...runningCheck, waiting: { for: what, since } });
  const { code, said } = await run(t, toPlan("New."), (_, nth) => {
    if (nth > 20) return { status: 200, body: passedCheck };
    return {
      status: nth === 1 ? 201 : 200,
      body: nth < 10 ? waiting("runner") : nth < 15 ? waiting("model") : runningCheck,
    };
  });
  t.equal(code, 0);
  t.match(said.slice(1), [
    `core/dev/work: waiting for a runner: no suitable runner is connected and free, since ${since}`,
    `core/dev/work: waiting for the judge's model: it is not responding, since ${since}`,
    /^core\/dev\/work: checking: planned change/,
  ]);
  t.equal(said.length, 4);
});

t.test("each verdict has its exit code", async (t) => {
  const ended = (body: object) => run(t, toPlan("New."), () => ({ status: 200, body }));
  t.equal((await ended(passedCheck)).code, 0);
  t.equal((await ended(failedCheck)).code, 1);
  t.equal((await ended({ ...passedCheck, verdict: "undecided", undecidedBecause: "stopped" })).code, 2);
  t.equal((await ended({ verdict: "passed" })).code, 3, "an answer that is not understood");
  const refused = {
    status: 409,
    body: { type: "urn:service:problem:conflict", detail: "The line has no replay_check." },
  };
  const conflict = await run(t, toPlan("New."), () => refused);
  t.equal(conflict.code, 3);
  t.match(conflict.outcomes, [{ what: "not-asked", why: /status 409: The line has no replay_check\.$/ }]);
  const replaced = await run(t, toPlan("New."), () => ({ status: 409, body: nothing }));
  t.equal(replaced.code, 0);
  t.match(replaced.outcomes, [{ what: "nothing-to-replay", why: nothing.detail }]);
});

t.test(
  "of several stations the worst counts: a failure before what could not be asked, before undecided",
  async (t) => {
    const undecided = { ...passedCheck, verdict: "undecided", undecidedBecause: "stopped" };
    const both = async (first: Scripted, second: Scripted) =>
      (await run(t, toPlan("New.", "New."), ({ body }) => (body.stationKey === "work" ? first : second))).code;
    const ok = (body: object) => ({ status: 201, body });
    const refused = { status: 403, body: { detail: "No." } };
    t.equal(await both(ok(passedCheck), { status: 409, body: nothing }), 0);
    t.equal(await both(ok(passedCheck), ok(undecided)), 2);
    t.equal(await both(ok(undecided), refused), 3);
    t.equal(await both(refused, ok(failedCheck)), 1);
    t.equal(await both(ok(failedCheck), ok(undecided)), 1);
  },
);

t.test("a start whose answer was lost is sent again under its key, which another attempt does not have", async (t) => {
  const lost = await run(t, toPlan("New."), (_, nth) => (nth === 1 ? "lost" : { status: 201, body: passedCheck }));
  const keys = lost.came.map(({ headers }) => headers["idempotency-key"]);
  t.equal(lost.code, 0);
  t.same(keys.length, 2);
  t.equal(keys[0], keys[1]);
  const findKey = async (options: Partial<CheckPlanOptions>, plan = toPlan("New.")) =>
    (await run(t, plan, () => ({ status: 201, body: passedCheck }), options)).came[0]?.headers["idempotency-key"];
  t.equal(await findKey({}), keys[0]);
  const others = [
    await findKey({ attempt: "9/2" }),
    await findKey({ commit: "abcdef2" }),
    await findKey({ commit: null }),
    await findKey({}, toPlan("Old.", "New.")),
  ];
  t.equal(new Set([keys[0], ...others]).size, 5);
});

t.test("what the CI does not say is left out", async (t) => {
  const { came } = await run(t, toPlan("New."), () => ({ status: 201, body: passedCheck }), {
    commit: null,
    pullRequest: null,
    repeats: null,
  });
  t.same(Object.keys(came[0]?.body ?? {}), ["lineId", "stationKey", "station", "line"]);
});

t.test("at its time limit a check is undecided, and one that was not started could not be asked", async (t) => {
  const late = await run(t, toPlan("New."), (_, nth, end) => {
    if (nth === 2) end();
    return { status: 200, body: runningCheck };
  });
  t.equal(late.code, 2);
  t.match(late.outcomes, [{ what: "still-running", why: "The time limit of 1 minutes has passed." }]);
  const never = await run(t, toPlan("New.", "New."), (_, __, end) => {
    end();
    return "lost";
  });
  t.equal(never.code, 3);
  t.match(never.outcomes, [
    { what: "not-asked", why: /time limit .* The check may have started\.$/ },
    { what: "not-asked", why: /time limit .* The check was not started\.$/ },
  ]);
});

t.test("a verdict that cannot be read is not a failure, and the check is named", async (t) => {
  const { code, outcomes } = await run(t, toPlan("New."), ({ method }) =>
    method === "POST" ? { status: 201, body: runningCheck } : { status: 404, body: { detail: "It is gone." } },
  );
  t.equal(code, 3);
  t.match(outcomes, [
    { what: "not-asked", why: /^The verdict was not read\. .*It is gone\.$/, check: { id: "rchk_1" } },
  ]);
});

t.test("a plan that changes no work station has nothing to replay, and asks nothing", async (t) => {
  const { code, came, outcomes } = await run(t, toPlan("Old."), () => "lost");
  t.same([code, came.length, outcomes], [0, 0, []]);
});

t.test("the line is found by its id or its address, and other lines and stations are left alone", async (t) => {
  const passes = () => ({ status: 201, body: passedCheck });
  const block = JSON.stringify({ ...work, prompt: "New." });
  for (const line of ["line_1", "core/dev"]) {
    t.equal((await run(t, block, passes, { line })).came.length, 1, line);
    t.equal((await run(t, toPlan("New."), passes, { line })).came.length, 1, line);
  }
  t.match((await run(t, block, passes)).outcomes, [{ what: "not-asked", why: /does not name its line: set --line/ }]);
  for (const text of [block, toPlan("New."), toPlan("Old.")]) {
    await t.rejects(run(t, text, passes, { line: "line_2" }), { name: "CouldNotAsk", message: /There is no line/ });
  }
  const one = await run(t, toPlan("New.", "New."), passes, { stations: ["other"] });
  t.same(
    one.came.map(({ body }) => body.stationKey),
    ["other"],
  );
});

t.test("a station that is asked for and is in no line of the plan could not be asked", async (t) => {
  const passes = () => ({ status: 201, body: passedCheck });
  const wrong = await run(t, toPlan("New."), passes, { stations: ["work", "wrok"] });
  t.equal(wrong.code, 3);
  t.match(wrong.outcomes, [
    { title: "core/dev/work", what: "checked" },
    { title: "wrok", what: "not-asked", why: /no line in the plan has it/ },
  ]);
  t.equal((await run(t, toPlan("Old."), passes, { stations: ["wrok"], line: "core/dev" })).code, 3);
  t.equal((await run(t, toPlan("Old."), passes, { stations: ["work"], line: "core/dev" })).code, 0);
});

t.test("what a plan misnames could not be asked, and starts nothing", async (t) => {
  const alone = (block: object, options = {}) =>
    run(t, JSON.stringify(block), () => "lost", { line: "core/dev", ...options });
  const mistyped = await alone({ ...work, promt: "New." });
  t.match(mistyped, { code: 3, came: [], outcomes: [{ why: "plan.json: promt is not a known field." }] });
  for (const stations of [null, ["work"]]) {
    const elsewhere = await alone({ ...work, key: "wrok" }, { stations });
    const why = 'plan.json: key does not name a station of core/dev, which has "work", "other".';
    t.match(elsewhere, { code: 3, came: [], outcomes: [{ title: "core/dev/wrok", what: "not-asked", why }] });
  }
});

t.test("a line that is not there is named as it was given", async (t) => {
  const station = JSON.stringify({ key: "work", kind: "work" });
  const message = "Cannot read the line core/dve: the service responded with status 404: There is no line.";
  await t.rejects(
    run(t, station, () => "lost", { line: "core/dve" }),
    { message },
  );
});

t.test("a line that is made or removed has nothing to replay, nor a skill", async (t) => {
  const plan = JSON.parse(planText);
  const changes = plan.resource_changes.filter(({ name }: { name: string }) =>
    ["gone", "made", "moved", "skill"].includes(name),
  );
  const { code, outcomes } = await run(t, JSON.stringify({ ...plan, resource_changes: changes }), () => "lost");
  t.equal(code, 0);
  t.match(outcomes, [
    { title: "service_line.gone[0]", what: "nothing-to-replay", why: /removes this line/ },
    { title: "service_line.made[0]", what: "nothing-to-replay", why: /creates or replaces this line/ },
    { title: "service_line.moved", what: "nothing-to-replay", why: /creates or replaces this line/ },
    { title: "service_skill.skill", what: "nothing-to-replay", why: /A check replays the station's block/ },
  ]);
});

t.test("a plan that nests too deep to be read is none, wherever it does", async (t) => {
  const deep = `${"[".repeat(50_000)}1${"]".repeat(50_000)}`;
  const within = [
    deep,
    `{"key":"work","kind":"work","prompt":${deep}}`,
    `{"format_version":"1.2","variables":${deep}}`,
  ];
  for (const plan of within)
    t.throws(() => readPlan(plan, "f"), { message: "f is not a plan: it nests deeper than 500 levels." });
});
