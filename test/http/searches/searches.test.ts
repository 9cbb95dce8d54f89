import t from "tap";
import { RUNNER_FEATURES } from "../../../actors/runners/protocol.js";
import { fillSet, openReplayScene, type ReplayScene, sceneLine } from "../../support/replay-scene.js";
import { bearer, itemsOf, remove, replace } from "../../support/resources.js";
import { workSearch } from "../../support/search-peer.js";
import type { Client, Reply } from "../../support/service.js";
import { StreamReader } from "../../support/stream-reader.js";
import { until } from "../../support/until.js";

const ceiling = { amount: 50, currency: "EUR" };
const budget = { iterations: 1, perIteration: 1, ceiling };
const agent = { harness: "command" };
const key = { "idempotency-key": "once" };

async function openScene(t: Parameters<typeof openReplayScene>[0]) {
  const place = await openReplayScene(t);
  const { set } = await fillSet(place, 5);
  return { place, set, body: { setId: set.split("/").at(-1), budget, agent } };
}

async function startSearch({ ada, station }: ReplayScene, body: object): Promise<string> {
  const started = await ada.request("POST", `${station}/searches`, body);
  if (started.status !== 201) throw new Error(started.text);
  return String(started.body?.id);
}

function ended({ ada }: { readonly ada: Client }, path: string): Promise<unknown> {
  return until("the search has ended", async () => (await ada.request("GET", path)).body?.endedAt !== null);
}

t.test("a search is estimated, started, watched and read to its end", async (t) => {
  const { place, set, body } = await openScene(t);
  const { ada, station, team } = place;
  const estimate = await ada.request("POST", `${station}/searches/estimate`, { setId: body.setId, budget });
  t.match(
    [estimate.status, estimate.body],
    [
      200,
      {
        searchedTasks: 3,
        heldOutTasks: 2,
        ceiling,
        minGain: 0.05,
        objective: "success",
        runs: { seed: 5, searchReplays: 3, heldOutReplays: 2, agent: 1, total: 11 },
        warnings: [{ kind: "noise-unmeasured" }, { kind: "too-few-to-confirm", heldOutTasks: 2, neededTasks: 5 }],
      },
    ],
  );
  t.same(itemsOf(await ada.request("GET", `${team}/searches`)), [], "nothing was written");
  const started = await ada.request("POST", `${station}/searches`, body, key);
  const { id, seedReplayId } = started.body ?? {};
  const { warnings } = estimate.body ?? {};
  t.same([started.status, started.body], [201, { id, seedReplayId, objective: "success", warnings }]);
  const again = await ada.request("POST", `${station}/searches`, body, key);
  t.same([again.status, again.headers["idempotent-replayed"], again.body], [201, "true", started.body]);
  t.equal((await ada.request("POST", `${station}/searches`, { ...body, objective: "cost" }, key)).status, 422);
  const second = await ada.request("POST", `${station}/searches`, body);
  t.match([second.status, second.body], [409, { detail: /^A search of the station is running\. Stop it first/ }]);
  t.equal((await ada.request("DELETE", set)).status, 409, "its set is held");

  const one = `${team}/searches/${id}`;
  const stream = await StreamReader.open(ada);
  t.teardown(async () => stream.socket.terminate());
  stream.subscribe(`search/${id}`);
  await stream.until(({ kind }) => kind === "snapshot");
  await workSearch(place, 11, { better: ["Look twice."], prompts: { careful: "Look twice." } });
  await stream.until(({ data }) => Reflect.get(Object(data.search), "state") === "finished");
  await ended(place, one);
  for (const message of stream.messages) t.ok(JSON.stringify(message).length < 4_096, "each message is short");
  const types = new Set(stream.messages.slice(1).map(({ data }) => String(data.type)));
  t.same([...types].sort(), ["candidate", "iteration", "replay", "search", "spent"]);

  const { body: read } = await ada.request("GET", one);
  t.match(read, {
    id,
    setId: body.setId,
    state: "finished",
    ending: "iterations-used",
    objective: "success",
    proposed: 1,
    spent: { amount: 11, currency: "EUR" },
    iterationsRun: 1,
    waiting: null,
    warnings: { length: 2 },
    split: { searchedTasks: 3, heldOutTasks: 2, searched: { length: 3 }, heldOut: { length: 2 } },
    iterations: [
      { number: 1, kind: "propose", state: "ended", attempts: 1, agentSpent: { amount: 1 }, reflection: null },
    ],
    seed: { replayId: seedReplayId, replayState: "finished", searchScore: 0, heldOutScore: 0, onFrontier: true },
    candidates: [
      {
        name: "careful",
        iteration: 1,
        hypothesis: "Say Look twice.",
        searchScore: 1,
        searchScored: 3,
        searchedGain: { gain: 1, tasks: 3 },
        heldOutScore: 1,
        heldOutGain: { gain: 1, tasks: 2, few: true },
        changes: [{ part: "prompt", kind: "added", was: null, now: null }],
        costPerRun: { amount: 1 },
        onlyOnSeenTasks: "too-few-held-out",
        pullRequest: null,
      },
    ],
    best: { name: "careful", seed: false, searchScore: 1, searchTasks: 3, heldOutScore: 1, heldOutTasks: 2 },
    bestBecause: { code: "only-confirmed", text: /^It is the only candidate that is better/ },
  });
  const [inList] = itemsOf(await ada.request("GET", `${station}/searches`));
  t.match(inList, { id, state: "finished", best: read?.best, bestBecause: read?.bestBecause, spent: read?.spent });
  await readParts(t, place, read);
  t.equal((await ada.request("DELETE", set)).status, 204, "its set is free again, and takes its replays with it");
  const { body: later } = await ada.request("GET", one);
  const gone = { replayState: "gone" };
  t.match(later, { seed: gone, candidates: [{ ...gone, heldOutReplayState: "gone" }] });
  const scores = (of: typeof read) => JSON.stringify([of?.best, of?.bestBecause, of?.frontier, of?.spent]);
  t.equal(scores(later), scores(read), "what it found stays");
  const [candidate] = (later as { candidates: readonly object[] }).candidates;
  t.match(candidate, {
    searchScore: 1,
    searchedGain: { gain: 1 },
    heldOutGain: { gain: 1 },
    costPerRun: { amount: 1 },
  });
});

interface Read {
  readonly id: string;
  readonly seed: { readonly replayId: string };
  readonly iterations: readonly { readonly runId: string }[];
  readonly candidates: readonly { readonly candidateId: string; readonly replayId: string }[];
}

/** Reads a search's replays, run and candidate individually. */
async function readParts(t: Tap, { ada, team }: ReplayScene, body: unknown): Promise<void> {
  const { id: searchId, seed, iterations, candidates } = body as Read;
  const replay = await ada.request("GET", `${team}/replays/${candidates[0]?.replayId}`);
  t.match(replay.body, {
    search: { searchId, candidateName: "careful" },
    candidate: { kind: "searched" },
    probe: false,
  });
  t.match((await ada.request("GET", `${team}/replays/${seed.replayId}`)).body, {
    search: { searchId, candidateName: "seed" },
    isBaseline: true,
  });
  const [copy] = (replay.body as { entries: { runId: string }[] }).entries;
  const ofCopy = await ada.request("GET", `${team}/replay-runs/${copy?.runId}/replay`);
  t.match(ofCopy.body, { search: { searchId, candidateName: "careful" } });
  t.match((await ada.request("GET", `${team}/runs/${copy?.runId}/config`)).body, {
    station: { prompt: "Look twice." },
  });
  const run = await ada.request("GET", `${team}/search-runs/${iterations[0]?.runId}`);
  t.match(run.body, { searchId, iteration: 1, kind: "propose", agent, stepCount: 1, steps: [{ text: "step 0" }] });
  t.equal((await ada.request("GET", `${team}/replay-runs/${iterations[0]?.runId}`)).status, 404);
  t.equal((await ada.request("GET", `${team}/search-runs/${copy?.runId}`)).status, 404);
  const candidate = `/api/resources/replay-candidates/${candidates[0]?.candidateId}`;
  t.equal((await ada.request("GET", candidate)).status, 404, "it is no replay candidate");
  const withdrawn = await remove(ada, candidate, 1);
  t.match(
    [withdrawn.status, withdrawn.body],
    [409, { type: "urn:service:problem:in-use", detail: /^A search created it\./ }],
  );
}

type Tap = Pick<typeof t, "match" | "equal">;

t.test("a search that is stopped has ended, and cannot be stopped again", async (t) => {
  const { place, body } = await openScene(t);
  const { ada, team, station, service, workspaceId } = place;
  const raced = await Promise.all([1, 2, 3].map(() => ada.request("POST", `${station}/searches`, body, key)));
  t.same(new Set(raced.map(({ status }) => status)), new Set([201]));
  t.equal(new Set(raced.map((reply) => reply.body?.id)).size, 1, "requests under one key at once start one");
  const one = `${team}/searches/${raced[0]?.body?.id}`;
  const reader = await bearer(service, ada, { workspaceId, name: "reader", scopes: ["read"] });
  t.match((await reader.request("POST", `${one}/stop`)).body, { title: "Not allowed to plan" });
  const stopped = await ada.request("POST", `${one}/stop`, undefined, key);
  t.equal(stopped.status, 204);
  t.match((await ada.request("GET", one)).body, { state: "stopped", ending: "stopped", endedAt: /Z$/ });
  const again = await ada.request("POST", `${one}/stop`, undefined, key);
  t.same([again.status, again.headers["idempotent-replayed"]], [204, "true"]);
  const late = await ada.request("POST", `${one}/stop`);
  t.match([late.status, late.body], [409, { detail: "The search has ended." }]);
  t.type(await startSearch(place, body), "string", "another may start");
  const changes = await ada.request("GET", "/api/workspaces/acme/configuration-changes");
  t.match(
    itemsOf(changes)
      .filter(({ resource }) => resource === "replay-search")
      .map(({ action }) => action),
    ["created", "updated", "created"],
  );
});

t.test(
  "a search says that it waits for a runner: for its replays, and for one that takes runs of searches",
  async (t) => {
    const { place, body } = await openScene(t);
    const { ada, team, peer } = place;
    peer.cut();
    const one = `${team}/searches/${await startSearch(place, body)}`;
    const waits = async () => (await ada.request("GET", one)).body?.waiting;
    await until("its replay waits", async () => (await waits()) === "runner");
    const another = await place.runner({ features: RUNNER_FEATURES.filter((feature) => feature !== "search") });
    await workSearch({ ...place, peer: another }, 4);
    const last = await another.job();
    await until("a copy runs", async () => (await waits()) === null);
    another.start(last);
    another.end(last, { spent: { amount: 1, currency: "EUR" } });
    const isSearching = async () => (await ada.request("GET", one)).body?.state === "searching";
    await until("its agent waits for one that takes runs of searches", async () =>
      (await isSearching()) ? (await waits()) === "runner" : false,
    );
    await workSearch({ ...place, peer: await place.runner() }, 1);
    await ended(place, one);
    t.match((await ada.request("GET", one)).body, { waiting: null, ending: "iterations-used", best: { seed: true } });
  },
);

t.test("searches are listed newest first, by pages, of the team or of one station", async (t) => {
  const { place, body } = await openScene(t);
  const { ada, team, station } = place;
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    const id = await startSearch(place, body);
    ids.unshift(id);
    await ada.request("POST", `${team}/searches/${id}/stop`);
  }
  for (const list of [`${team}/searches`, `${station}/searches`]) {
    const page = async (query = "") => {
      const reply = await ada.request("GET", `${list}${query}`);
      return [itemsOf(reply).map(({ id }) => id), reply.body?.next];
    };
    t.same(await page(), [ids, null]);
    t.same(await page("?limit=2"), [ids.slice(0, 2), ids[1]]);
    t.same(await page(`?limit=2&before=${ids[1]}`), [ids.slice(2), null]);
    t.same(await page("?limit=3"), [ids, null]);
    t.same(await page(`?before=${ids[2]}`), [[], null]);
    t.same(await page("?before=srch_none"), [[], null], "one that the list does not hold");
    for (const query of ["?limit=0", "?limit=201", "?limit=many", "?before=%20", "?after=1"]) {
      t.equal((await ada.request("GET", `${list}${query}`)).status, 400, query);
    }
  }
  const review = station.replace(place.stationId, place.reviewId);
  t.same(itemsOf(await ada.request("GET", `${review}/searches`)), []);
  t.same(itemsOf(await ada.request("GET", `${review}/searches?before=${ids[0]}`)), [], "it is of another station");
  const { earlierSearches } = (await ada.request("GET", `${team}/searches/${ids[0]}`)).body ?? {};
  t.match(earlierSearches, [{ id: ids[1], state: "stopped" }, { id: ids[2] }]);
});

t.test(
  "a candidate is picked once its replay has finished, by one of many at a time, and again when refused",
  async (t) => {
    const { place, body } = await openScene(t);
    const { ada, team, lineId } = place;
    const id = await startSearch(place, body);
    const one = `${team}/searches/${id}`;
    const read = async () =>
      (await ada.request("GET", one)).body as unknown as Read & { seed: { candidateId: string } };
    const pick = (candidateId: string, headers = {}): Promise<Reply> =>
      ada.request("POST", `${one}/candidates/${candidateId}/pick`, undefined, headers);
    const { seed } = await read();
    t.match((await pick(seed.candidateId)).body, { status: 409, detail: /^The seed is the live config/ });
    t.match((await pick("cand_none")).body, { status: 404, detail: "Candidate cand_none not found." });
    const prompts = { careful: "Look twice." };
    await workSearch(place, 6, { better: ["Look twice."], prompts });
    await until("it is admitted", async () => (await read()).candidates.length === 1);
    const candidateId = (await read()).candidates[0]?.candidateId ?? "";
    t.match((await pick(candidateId)).body, { status: 409, detail: /has not finished/ });
    await workSearch(place, 5, { better: ["Look twice."] });
    await ended(place, one);

    const raced = await Promise.all(Array.from({ length: 6 }, () => pick(candidateId)));
    t.ok(raced.every(({ status }) => status === 201 || status === 200));
    t.equal(new Set(raced.map(({ body }) => body?.id)).size, 1, "there is one pull request");
    const path = `${team}/config-pull-requests/${raced[0]?.body?.id}`;
    const settle = () => until("it is refused", async () => (await ada.request("GET", path)).body?.state === "refused");
    await settle();
    const begun = raced.filter(({ status }) => status === 201).length;
    const { body: refused } = await ada.request("GET", path);
    t.match(refused, {
      searchId: id,
      candidateId,
      candidateName: "careful",
      lineId,
      stationKey: "work",
      attempts: begun,
      url: null,
      repository: null,
      path: null,
      branch: /^config\/dev-work-careful-\w{8}$/,
      reason: { code: "no-source", attribute: null, expression: null, wanted: null },
    });
    const { reason } = refused ?? {};
    t.match((await read()).candidates, [{ pullRequest: { id: refused?.id, state: "refused", url: null, reason } }]);

    const source = { repository: "acme/infra", path: "lines/dev.tf" };
    t.equal((await replace(ada, `/api/resources/lines/${lineId}`, 1, { ...sceneLine, source })).status, 200);
    const again = await pick(candidateId, key);
    t.match([again.status, again.body], [201, { state: "opening", attempts: begun + 1, ...source, reason: null }]);
    await settle();
    const repeated = await pick(candidateId, key);
    t.same(
      [repeated.status, repeated.headers["idempotent-replayed"], repeated.body?.attempts],
      [201, "true", begun + 1],
    );
    t.match((await ada.request("GET", path)).body, { reason: { code: "no-connection" }, branch: refused?.branch });
    const changes = itemsOf(await ada.request("GET", "/api/workspaces/acme/configuration-changes"));
    const picks = changes.filter(({ resource }) => resource === "config-pull-request");
    t.same(
      picks.map(({ key: of }) => of),
      Array(begun + 1).fill(refused?.branch),
    );
    t.same(
      picks.map(({ action }) => action),
      [...Array(begun).fill("updated"), "created"],
    );
  },
);
