import { createHash } from "node:crypto";
import t, { type Test } from "tap";
import { listCopies } from "../../../actors/replays/copies/replay-copy.table.js";
import type { Job } from "../../../actors/runners/job.js";
import { RUNNER_FEATURES } from "../../../actors/runners/protocol.js";
import { listIterations } from "../../../actors/searches/iterations/search-iteration.table.js";
import { getSearchInput } from "../../../actors/searches/search/search.table.js";
import { fillSet, openReplayScene } from "../../support/replay-scene.js";
import { toTables } from "../../support/route-table.js";
import { newestIteration, openSearch, startSearch, workUntilAgent } from "../../support/search-scene.js";
import type { Client, Reply } from "../../support/service.js";

/** Tests the endpoints for a search's agent. Only the runner that claimed the agent's run may use these endpoints. */

type Place = Awaited<ReturnType<typeof openReplayScene>>;

/** A runner that sends requests as the holder of a run. */
interface Holder {
  readonly client: Pick<Client, "request">;
  readonly runId: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function readHolder({ service, token, peer }: Place, { runId, fence }: Job): Promise<Holder> {
  const { runnerId } = await peer.frame("welcome");
  const headers = { "service-runner": runnerId, "service-run-fence": String(fence) };
  return { client: service.withToken(token), runId, headers };
}

const post = ({ client, runId, headers }: Holder, path: string, body: unknown, more = {}): Promise<Reply> =>
  client.request("POST", `/api/runs/${runId}/${path}`, body, { ...headers, ...more });
const get = ({ client, runId, headers }: Holder, path: string): Promise<Reply> =>
  client.request("GET", `/api/runs/${runId}/${path}`, undefined, headers);

/** Returns the block of the scene's station, with a prompt. */
const block = (prompt: string, more = {}) => ({
  key: "work",
  name: "Work",
  kind: "work",
  prompt,
  runners: { pool: "main" },
  ...more,
});
const proposal = (name: string, prompt = `As ${name}.`) => ({
  name,
  hypothesis: `It is ${name}.`,
  station: block(prompt),
});
const cause = { taskId: "task_1", cause: "config", evidence: "It stopped." };

/** Returns the statuses of all four endpoints for a caller. */
async function statuses(holder: Holder): Promise<readonly number[]> {
  const answers = [
    await post(holder, "search-candidates", { candidates: [proposal("other")] }),
    await post(holder, "search-causes", cause),
    await get(holder, "search-files"),
    await get(holder, "search-files/brief"),
  ];
  return answers.map(({ status }) => status);
}

async function open(t: Test) {
  const place = await openReplayScene(t);
  const search = await openSearch(place);
  return { place, search, holder: await readHolder(place, search.job) };
}

t.test("only the runner that holds the run is answered, by its own token and claim", async (t) => {
  const { place, search, holder } = await open(t);
  const { service, ada, workspaceId, peer } = place;
  const { job } = search;
  const other = await place.runner();
  const { runnerId } = await other.frame("welcome");
  const pool = await ada.request(
    ...(["POST", `/api/resources/workspaces/${workspaceId}/runner-pools`, { key: "other" }] as const),
    { "idempotency-key": "other" },
  );
  const token = await ada.request(
    ...(["POST", `/api/resources/workspaces/${workspaceId}/tokens`, { name: "t", scopes: ["read", "plan"] }] as const),
    { "idempotency-key": "t" },
  );
  const withToken = (header: string, { headers }: Reply) => service.withToken(String(headers[header]));
  const nothing = [404, 404, 404, 404];
  const asking: readonly [string, Partial<Holder>, readonly number[]][] = [
    ["nobody", { client: service.withToken("") }, [401, 401, 401, 401]],
    ["an unknown token", { client: service.withToken("x".repeat(40)) }, [401, 401, 401, 401]],
    ["a person", { client: ada }, nothing],
    ["a workspace token", { client: withToken("service-workspace-token", token) }, nothing],
    ["a token of another pool", { client: withToken("service-pool-token", pool) }, nothing],
    ["another runner of the pool", { headers: { ...holder.headers, "service-runner": runnerId } }, nothing],
    ["an old fence", { headers: { ...holder.headers, "service-run-fence": String(job.fence - 1) } }, nothing],
    ["no fence", { headers: { "service-runner": holder.headers["service-runner"] ?? "" } }, nothing],
    ["a fence that is none", { headers: { ...holder.headers, "service-run-fence": "1.0" } }, nothing],
    ["no runner", { headers: { "service-run-fence": String(job.fence) } }, nothing],
    ["another run", { runId: search.runIds[0] ?? "" }, nothing],
  ];
  for (const [who, as, expected] of asking) t.same(await statuses({ ...holder, ...as }), expected, who);
  t.same(await statuses(holder), [201, 409, 200, 200], "the runner that holds it proposes");
  peer.end(job);
  await place.until(async () => newestIteration(place, search.searchId).state === "ended");
  t.same(await statuses(holder), nothing, "a run that has ended");
});

t.test("candidates are admitted all or none, once under a key, and refused at their paths", async (t) => {
  const { place, search, holder } = await open(t);
  const propose = (body: unknown, key?: string) =>
    post(holder, "search-candidates", body, key === undefined ? {} : { "idempotency-key": key });
  const refusals = [
    ["rubbish"],
    { candidates: Array.from({ length: 1_000 }, (_, n) => proposal(`n${n}`)) },
    { candidates: [proposal("good"), { ...proposal("seed"), station: block("x", { judge: { rubric: "Pass." } }) }] },
    { candidates: [proposal("good"), proposal("better", "As good.")] },
    { candidates: ["one", "two", "three"].map((name) => proposal(name, name.padEnd(190_000, "."))) },
    { ...proposal("none"), station: block("x", { harness: "none", key: "other" }) },
    { ...proposal("none"), station: block("x", { harness: "none", profile: "nowhere" }) },
  ];
  const paths: string[][] = [];
  for (const body of refusals) {
    const { status, body: problem } = await propose(body);
    t.equal(status, 422);
    const errors = problem?.errors as { path: string }[] | undefined;
    paths.push(errors?.map(({ path }) => path) ?? []);
  }
  t.same(paths, [
    ...[[""], ["[5]"], ["[1].name", "[1].station.judge"], ["[1].station"], ["[2]"], ["[0].station.key"]],
    ["[0].station.harness", "[0].station.profile"],
  ]);
  t.equal(newestIteration(place, search.searchId).attempts, refusals.length, "each is an attempt");
  t.same(newestIteration(place, search.searchId).proposed, []);

  const long = { ...proposal("long"), station: block("p".repeat(190_000), { name: "Work" }) };
  const first = await propose({ candidates: [long] }, "once");
  t.match(first, { status: 201, body: { candidates: [{ name: "long", fingerprint: /^[0-9a-f]{64}$/ }], left: 1 } });
  const again = await propose({ candidates: [long] }, "once");
  t.same(again.body, first.body);
  t.match(again.headers, { "idempotent-replayed": "true" });
  t.equal((await propose(proposal("other"), "once")).status, 422, "another body under the key");
  t.match(await propose(proposal("long", "Else.")), { status: 422, body: { errors: [{ path: "[0].name" }] } });
  t.match(await propose(proposal("last")), { status: 201, body: { left: 0 } });
  t.match(await propose(proposal("more")), { status: 422, body: { errors: [{ path: "[0]" }] } });
  t.equal(newestIteration(place, search.searchId).proposed.length, 2);
});

t.test("the files are those of the list, one at a time, and all that the runner's credential can read", async (t) => {
  const { place, search, holder } = await open(t);
  const { body } = await get(holder, "search-files");
  const files = body?.files as { file: string; path: string; bytes: number; digest: string }[];
  t.equal(body?.leftOut, 0);
  t.match(
    files.map(({ path }) => path),
    ["brief.json", "candidates/seed.json", /^runs\/task_\w+\/task\.json$/],
  );
  t.equal(files.length, 2 + 3 * 2, "three of five tasks are searched");
  for (const { file, bytes, digest } of files) {
    const { text } = await get(holder, `search-files/${file}`);
    t.equal(createHash("sha256").update(text).digest("hex"), digest);
    t.equal(Buffer.byteLength(text), bytes);
  }
  const others = ["nothing", "task.task_1", `candidate.${search.seedReplayId}`, "result.x.1.1"];
  for (const name of others) t.equal((await get(holder, `search-files/${name}`)).status, 404, name);

  const { service, workspaceId, teamId, lineId, stationId } = place;
  const copies = listCopies(service.runtime.reading, workspaceId, search.seedReplayId);
  const ids: Readonly<Record<string, string>> = {
    workspaceId,
    teamId,
    lineId,
    stationId,
    replayId: search.seedReplayId,
    searchId: search.searchId,
    setId: search.set.slice(search.set.lastIndexOf("/") + 1),
    file: "brief",
    id: search.searchId,
  };
  const reads = toTables(service).routes.filter(
    ({ method, path, access }) => method === "GET" && access !== "public" && /\{/.test(path),
  );
  const answered = [];
  for (const { path } of reads) {
    for (const runId of [search.job.runId, copies[0]?.runId ?? "", search.runIds[0] ?? ""]) {
      const at = path.replace(/\{(\w+)\}/g, (_, name: string) => (name === "runId" ? runId : (ids[name] ?? "id_1")));
      const { status } = await holder.client.request("GET", at, undefined, holder.headers);
      if (status !== 401 && status !== 404) answered.push(`${at} answers ${status}`);
      if (!path.includes("{runId}")) break;
    }
  }
  t.same(answered, [], "no read of replays, checks, searches or anything else");
  t.ok(reads.filter(({ path }) => /replay|search|config-pull/.test(path)).length > 15);
  const heldOut = getSearchInput(service.runtime.reading, workspaceId, search.searchId).split.heldOut;
  const job = JSON.stringify(search.job);
  for (const { runId, taskId } of heldOut) t.notMatch(job, new RegExp(`${runId}|${taskId}`), "the job names none");
});

t.test("a reflection records a cause of each of its tasks, and proposes nothing", async (t) => {
  const { place, search, holder: proposer } = await open(t);
  const { peer } = place;
  for (const body of [cause, { cause: "luck" }]) {
    const refused = await post(proposer, "search-causes", body);
    t.match(refused, { status: 409, body: { detail: /records no causes/ } });
  }
  t.equal((await post(proposer, "search-candidates", proposal("worse"))).status, 201);
  peer.end(search.job);
  const job = await workUntilAgent(place);
  t.same(job.search, { kind: "reflect" });
  const holder = await readHolder(place, job);
  const { reflection } = newestIteration(place, search.searchId);
  const [task] = reflection?.tasks ?? [];
  if (task === undefined) throw new Error("it reflects on nothing");
  for (const body of [proposal("other"), { name: 1 }]) {
    const answer = await post(holder, "search-candidates", body);
    t.match(answer, { status: 409, body: { detail: /proposes no candidates/ } });
  }
  const found = { taskId: task.taskId, cause: "task", evidence: "It asks too much." };
  const record = (body: unknown, key: string) => post(holder, "search-causes", body, { "idempotency-key": key });
  t.match(await record({ ...found, cause: "luck" }, "a"), { status: 422, body: { errors: [{ path: "cause" }] } });
  t.equal((await record({ ...found, taskId: "task_of_elsewhere" }, "b")).status, 404);
  t.match(await record(found, "c"), {
    status: 201,
    body: { taskId: task.taskId, cause: "task", replayRunId: task.replayRunId },
  });
  t.match((await record(found, "c")).headers, { "idempotent-replayed": "true" });
  t.equal((await record({ ...found, cause: "config", suggestion: " " }, "d")).status, 201);
  t.match(newestIteration(place, search.searchId).reflection?.causes, [
    { taskId: task.taskId, cause: "config", evidence: "It asks too much.", suggestion: null },
  ]);
  const { text } = await get(holder, "search-files/brief");
  t.match(JSON.parse(text), { kind: "reflect", standing: "seed", tasks: [{ taskId: task.taskId }] });
});

t.test("a runner without the feature gets no job of a search", async (t) => {
  const place = await openReplayScene(t);
  const features = RUNNER_FEATURES.filter((feature) => feature !== "search");
  const { set } = await fillSet(place, 5);
  place.peer.cut();
  const old = await place.runner({ features, instance: "f".repeat(16) });
  const { searchId } = await startSearch(place, set.slice(set.lastIndexOf("/") + 1));
  for (let copies = 0; copies < 5; copies++) {
    const job = await old.job();
    old.start(job);
    old.end(job, { outcome: "failed", failure: { code: "harness-failed", message: "No.", output: "" } });
  }
  const { service, workspaceId } = place;
  const iterations = () => listIterations(service.runtime.reading, workspaceId, searchId);
  await place.until(async () => iterations()[0]?.state === "wanted");
  const knowing = await place.runner({ instance: "e".repeat(16) });
  t.same((await knowing.job()).search, { kind: "propose" });
  t.equal(old.messages("run.assign").length, 5);
});
