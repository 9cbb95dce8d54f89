import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { Pool } from "undici";
import { type CheckPlanOptions, checkPlan } from "../../../../http/cli/check/check-plan.js";
import { fixedToken } from "../../../../http/cli/check/credential.js";
import { type Outcome, toWorst, verdictCodes } from "../../../../http/cli/check/outcome.js";
import { readPlan } from "../../../../http/cli/check/read-plan.js";
import { createRequests } from "../../../../http/cli/check/requests.js";
import { Service } from "../../../../http/cli/check/service.js";
import {
  type CheckScene,
  isPlanned,
  openCheckScene,
  plannedStation,
  workCopies,
} from "../../../support/check-scene.js";
import { bearer, listItems } from "../../../support/resources.js";
import { openSignalbox } from "../../../support/signalbox.js";

/** Tests how the command uses the real service's checks. */

interface Ran {
  readonly code: number;
  readonly outcomes: readonly Outcome[];
}

/** Returns a plan: the current line with changed fields, and with changed fields of its work station. */
async function plan(place: CheckScene, station: object, line: object = {}): Promise<string> {
  const body = (await place.ada.request("GET", `/api/resources/lines/${place.lineId}`)).body ?? {};
  const [work, ...others] = body.stations as readonly object[];
  return JSON.stringify({ ...body, ...line, stations: [{ ...work, ...station }, ...others] });
}

async function run(
  place: CheckScene,
  text: string,
  { url = place.service.baseUrl, ...options }: Partial<CheckPlanOptions> & { readonly url?: string } = {},
): Promise<Ran> {
  const { service, ada, workspaceId } = place;
  const client = await bearer(service, ada, { workspaceId, name: `ci-${Date.now()}`, scopes: ["plan"] });
  const token = String(client.credentials.authorization).replace("Bearer ", "");
  // Replaces each wait of the command by a short wait, during which the test can work on the copies.
  const wait = () => pause(20);
  const { signal } = new AbortController();
  const requests = createRequests({ nowMs: () => Date.now(), wait, ended: signal, log: () => undefined });
  const outcomes = await checkPlan(readPlan(text, "plan.json"), {
    service: new Service({ requests, url, credential: fixedToken(token) }),
    requests,
    line: null,
    stations: null,
    commit: "3f9c2ab4d5e6",
    pullRequest: 7,
    repeats: null,
    attempt: "1/1",
    everyMs: 20,
    whyEnded: () => "",
    progress: { started: () => undefined, moved: () => undefined },
    ...options,
  });
  return { code: verdictCodes[toWorst(outcomes)], outcomes };
}

const { prompt } = plannedStation;

t.test("a change that does as well passes, and one that does worse fails, with its reasons", async (t) => {
  const place = await openCheckScene(t);
  const [passed] = await Promise.all([run(place, await plan(place, { prompt })), workCopies(place, 4)]);
  t.equal(passed.code, 0);
  t.match(passed.outcomes, [{ title: "core/dev/work", what: "checked", check: { verdict: "passed", compared: 2 } }]);
  const again = await run(place, await plan(place, { prompt }), { attempt: "2/1" });
  t.match(
    [again.code, again.outcomes],
    [0, [{ check: { verdict: "passed", reused: true } }]],
    "it is not paid for twice",
  );
  const worse = await plan(place, { prompt, effort: "low" });
  const [failed] = await Promise.all([run(place, worse), workCopies(place, 2, isPlanned)]);
  t.equal(failed.code, 1);
  t.match(failed.outcomes, [
    { check: { regressions: [{ reasons: [{ code: "harness-failed", detail: "It gave up." }] }] } },
  ]);
});

t.test("a check whose replay is stopped is undecided", async (t) => {
  const place = await openCheckScene(t, { runs: 1 });
  const stop = async () => {
    await place.until(async () => listItems(await place.ada.request("GET", `${place.set}/replays`)).length === 2);
    const replays = listItems(await place.ada.request("GET", `${place.set}/replays`)) as {
      id: string;
      state: string;
    }[];
    for (const { id } of replays) await place.ada.request("POST", `${place.team}/replays/${id}/stop`);
  };
  const [{ code, outcomes }] = await Promise.all([run(place, await plan(place, { prompt })), stop()]);
  t.equal(code, 2);
  t.match(outcomes, [{ check: { verdict: "undecided", undecidedBecause: "stopped" } }]);
});

t.test("what changes nothing of how runs go has nothing to replay, in the service's words", async (t) => {
  const place = await openCheckScene(t, { runs: 1 });
  const named = await run(place, await plan(place, { name: "Another name" }));
  t.equal(named.code, 0);
  t.match(named.outcomes, [{ title: "core/dev/work", what: "nothing-to-replay", why: /\w/ }]);
  const kept = await run(place, await plan(place, { runners: { pool: "main", labels: ["big"] } }));
  t.match([kept.code, kept.outcomes], [0, [{ what: "nothing-to-replay", why: /runners/ }]]);
});

t.test("a line without terms, and a station without a set, could not be asked: the service says why", async (t) => {
  const place = await openCheckScene(t, { runs: 1 });
  await place.changeLine({ line: { replayCheck: null } });
  const unset = await run(place, await plan(place, { prompt }));
  t.equal(unset.code, 3);
  t.match(unset.outcomes, [{ what: "not-asked", why: /responded with status 409: .*replay_?check/i }]);
  await place.changeLine();
  await place.ada.request("DELETE", `${place.set}/guards-changes`);
  const unguarded = await run(place, await plan(place, { prompt }));
  t.match([unguarded.code, unguarded.outcomes], [3, [{ what: "not-asked", why: /responded with status 409: / }]]);
  const wrong = await run(place, await plan(place, { prompt: 7 }));
  t.match([wrong.code, wrong.outcomes], [3, [{ what: "not-asked", why: /responded with status 4\d\d: / }]]);
});

t.test("a start whose answer is lost on the way starts one check", async (t) => {
  const place = await openCheckScene(t, { runs: 1 });
  const starts: string[] = [];
  const url = await startCuttingProxy(t, place.service.baseUrl, ({ method, path, key }) => {
    if (method !== "POST" || !path.endsWith("/replay-checks")) return false;
    return starts.push(key) === 1;
  });
  const [{ code }] = await Promise.all([run(place, await plan(place, { prompt }), { url }), workCopies(place, 2)]);
  t.equal(code, 0);
  t.same([starts.length, starts[0]], [2, starts[1]]);
  t.equal(listItems(await place.ada.request("GET", `${place.set}/replay-checks`)).length, 1);
});

t.test("the repositories' setup is replayed as it is planned, at every work station", async (t) => {
  const place = await openCheckScene(t, { runs: 1 });
  const text = await plan(place, {}, { repositories: [{ name: "acme/app", setup: "npm ci" }, { name: "acme/new" }] });
  const setups: unknown[] = [];
  const work = workCopies(place, 2, ({ checkouts }) => {
    setups.push(checkouts.map(({ setup }) => setup));
    return false;
  });
  const [{ code, outcomes }] = await Promise.all([run(place, text), work]);
  t.equal(code, 0);
  t.match(outcomes, [
    { title: "core/dev/work", what: "checked" },
    { title: "core/dev", what: "nothing-to-replay", why: /acme\/new is new to the line/ },
  ]);
  t.same(setups.sort(), [["npm ci"], [null]].sort());
});

t.test("without a token, the command uses the stored sign-in, with the workspace and team of the folder", async (t) => {
  const place = await openCheckScene(t, { runs: 1 });
  const { service, ada } = place;
  await ada.create("/api/resources/workspaces", { slug: "aaa", name: "Another" });
  const { run: command, home } = openSignalbox(t);
  t.match(await command(["login", service.baseUrl, "--link", await service.linkFor("ada@example.com")]), { code: 0 });
  writeFileSync(join(home, "plan.json"), JSON.stringify(plannedStation));
  const check = (line: string, ...args: readonly string[]) =>
    command(["check", "--line", line, "--every", "0.05", "--commit", "3f9c2ab4d5e6", ...args, "plan.json"]);
  const unselected = await check("core/dev");
  t.match(unselected, { code: 3, out: /You are in several workspaces \(.*aaa.*\): run signalbox use/ });
  t.match(await check(place.lineId, "--station", "none"), { code: 3, out: /no line in the plan has it/ });
  const { items } = (await ada.request("GET", "/api/resources/workspaces")).body as {
    readonly items: readonly { readonly id: string; readonly slug: string }[];
  };
  const slug = items.find(({ id }) => id === place.workspaceId)?.slug;
  t.match(await command(["use", `${slug}/core`]), { code: 0 });
  const [{ code, out, err }] = await Promise.all([check("dev", "--json"), workCopies(place, 2)]);
  t.equal(code, 0, err);
  t.match(JSON.parse(out), { verdict: "passed", outcomes: [{ title: "core/dev/work", what: "checked" }] });
  t.match(await check("core/dev", "--url", service.baseUrl), { code: 0, out: /replay check: passed$/ });
  t.match(await command(["check", "--token", "x", "--trust", "y", "plan.json"]), { code: 3, err: /both a token/ });
});

interface Passing {
  readonly method: string;
  readonly path: string;
  readonly key: string;
}

/**
 * Starts a proxy to the service. If `cuts` returns true for a request, the proxy does not pass on the answer, but cuts
 * the connection.
 */
async function startCuttingProxy(t: Test, target: string, cuts: (request: Passing) => boolean): Promise<string> {
  const pool = new Pool(target);
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", async () => {
      const { method = "", url: path = "", headers } = request;
      const { host: _host, connection: _connection, "transfer-encoding": _coding, ...passed } = headers;
      const body = parts.length === 0 ? null : Buffer.concat(parts);
      const answer = await pool.request({ method: method as "GET", path, headers: passed, body });
      const text = await answer.body.text();
      if (cuts({ method, path, key: String(headers["idempotency-key"]) })) return void request.socket.destroy();
      response.writeHead(answer.statusCode, { "content-type": "application/json" }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await pool.destroy();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}
