import t from "tap";
import {
  fillSet,
  openReplayScene,
  openSet,
  type ReplayScene,
  sceneLine,
  workTask,
} from "../../support/replay-scene.js";
import { bearer, listItems, replace } from "../../support/resources.js";

const ceiling = { amount: 20, currency: "EUR" };
const budget = { iterations: 2, perIteration: 2, ceiling };
const agent = { harness: "command" };

const number = "must be a number";
const text = "must be a text";
const required = "is required";
const iterations = "Search iterations must be from 1 to 10.";
const perIteration = "Search candidates per iteration must be from 1 to 5.";
const concurrency = "Search concurrency must be from 1 to 10.";
const repeats = "Search repeats must be from 1 to 5.";
const amount = "must be above 0 and at most 1000";
const currency = "must be a currency such as EUR";
const objective = "must be success or cost";
const model = "Model must be 1 to 60 characters, or empty.";
const noName = "must be 1 to 200 characters";
const effort = "must be low, medium, high, xhigh or max";
const harness = "must be a harness that a runner can start: command";

type Case = readonly [change: object, path: string, message: string];

/** Faults of a budget, a set or an objective, each with its only error. A start and an estimate give the same error. */
const ofBudgets: readonly Case[] = [
  [{ budget: undefined }, "budget", required],
  [{ budget: { ...budget, iterations: undefined } }, "budget.iterations", required],
  [{ budget: { ...budget, iterations: "2" } }, "budget.iterations", number],
  [{ budget: { ...budget, iterations: 0 } }, "budget.iterations", iterations],
  [{ budget: { ...budget, iterations: 11 } }, "budget.iterations", iterations],
  [{ budget: { ...budget, iterations: 1.5 } }, "budget.iterations", iterations],
  [{ budget: { ...budget, perIteration: undefined } }, "budget.perIteration", required],
  [{ budget: { ...budget, perIteration: 6 } }, "budget.perIteration", perIteration],
  [{ budget: { ...budget, concurrency: 0 } }, "budget.concurrency", concurrency],
  [{ budget: { ...budget, concurrency: 11 } }, "budget.concurrency", concurrency],
  [{ budget: { ...budget, repeats: "two" } }, "budget.repeats", number],
  [{ budget: { ...budget, repeats: null } }, "budget.repeats", number],
  [{ budget: { ...budget, repeats: 0 } }, "budget.repeats", repeats],
  [{ budget: { ...budget, repeats: 6 } }, "budget.repeats", repeats],
  [{ budget: { ...budget, ceiling: undefined } }, "budget.ceiling", required],
  [{ budget: { ...budget, ceiling: { currency: "EUR" } } }, "budget.ceiling.amount", required],
  [{ budget: { ...budget, ceiling: { amount: 0, currency: "EUR" } } }, "budget.ceiling.amount", amount],
  [{ budget: { ...budget, ceiling: { amount: 1_000.01, currency: "EUR" } } }, "budget.ceiling.amount", amount],
  [{ budget: { ...budget, ceiling: { amount: 1 } } }, "budget.ceiling.currency", required],
  [{ budget: { ...budget, ceiling: { amount: 1, currency: "euro" } } }, "budget.ceiling.currency", currency],
  [{ setId: undefined }, "setId", required],
  [{ setId: 7 }, "setId", text],
  [{ objective: "speed" }, "objective", objective],
  [{ objective: 7 }, "objective", text],
  [{ more: 1 }, "more", "is not a field here"],
];

/** Faults in the `agent` of a request that starts a search, each with its only error. */
const ofAgents: readonly Case[] = [
  [{ agent: undefined }, "agent", required],
  [{ agent: {} }, "agent.harness", required],
  [{ agent: { harness: "typewriter" } }, "agent.harness", harness],
  [{ agent: { ...agent, model: "" } }, "agent.model", noName],
  [{ agent: { ...agent, model: "m".repeat(61) } }, "agent.model", model],
  [{ agent: { ...agent, model: "m".repeat(200) } }, "agent.model", model],
  [{ agent: { ...agent, model: "m".repeat(201) } }, "agent.model", noName],
  [{ agent: { ...agent, effort: "" } }, "agent.effort", effort],
  [{ agent: { ...agent, effort: "extreme" } }, "agent.effort", effort],
];

function toSearches(place: ReplayScene): { readonly start: string; readonly estimate: string } {
  return { start: `${place.station}/searches`, estimate: `${place.station}/searches/estimate` };
}

t.test("a start and an estimate that are not in their form are refused at the field, by its message", async (t) => {
  const place = await openReplayScene(t);
  const { start, estimate } = toSearches(place);
  const { set } = await fillSet(place, 5);
  const setId = set.split("/").at(-1);
  const cases = [
    ...ofBudgets.map(([change, ...error]) => [start, { setId, budget, agent, ...change }, ...error] as const),
    ...ofAgents.map(([change, ...error]) => [start, { setId, budget, agent, ...change }, ...error] as const),
    ...ofBudgets.map(([change, ...error]) => [estimate, { setId, budget, ...change }, ...error] as const),
  ];
  const wrong: unknown[] = [];
  for (const [path, body, field, message] of cases) {
    const { status, body: reply } = await place.ada.request("POST", path, body);
    const { errors } = (reply ?? {}) as { errors?: readonly { path: string; message: string }[] };
    const [first] = errors ?? [];
    const isAsSaid = status === 422 && errors?.length === 1 && first?.path === field && first.message === message;
    if (!isAsSaid) wrong.push([path, JSON.stringify(body), status, errors]);
  }
  t.same(wrong, [], `${cases.length} bodies`);
  t.same(listItems(await place.ada.request("GET", start)), [], "none has started a search");
});

t.test("a set of too few tasks, and a ceiling too low for what it would run, are refused", async (t) => {
  const place = await openReplayScene(t);
  const { start, estimate } = toSearches(place);
  const { set, runIds } = await fillSet(place, 5);
  const setId = set.split("/").at(-1);
  // There are 5 runs for the seed, 4 x 3 for the search replays, and 3 x 2 for the held-out replays.
  const low = { ...budget, ceiling: { amount: 0.22, currency: "EUR" } };
  for (const path of [start, estimate]) {
    const body = { setId, budget: low, ...(path === start ? { agent } : {}) };
    const refused = await place.ada.request("POST", path, body);
    t.match(
      [refused.status, refused.body],
      [
        422,
        {
          errors: [
            {
              path: "budget.ceiling.amount",
              message: /^must allow at least 0\.01 EUR .* 23 replay runs: at least 0\.23$/,
            },
          ],
        },
      ],
    );
  }
  t.equal((await place.ada.request("DELETE", `${set}/entries/${runIds[0]}`)).status, 204);
  for (const path of [start, estimate]) {
    const refused = await place.ada.request("POST", path, { setId, budget, ...(path === start ? { agent } : {}) });
    t.match([refused.status, refused.body], [422, { errors: [{ path: "setId", message: /^covers too few tasks/ }] }]);
  }
});

t.test("what there is not is not found, and who may not plan only estimates", async (t) => {
  const place = await openReplayScene(t);
  const { ada, service, team, lineId, workspaceId } = place;
  const { start, estimate } = toSearches(place);
  const setId = (await openSet(place)).split("/").at(-1);
  const body = { setId, budget };
  for (const path of [start, estimate]) {
    const asked = path === start ? { ...body, agent } : body;
    const gone = await ada.request("POST", path, { ...asked, setId: "rset_none" });
    t.match([gone.status, gone.body], [404, { detail: "Replay set rset_none not found." }]);
    const noStation = await ada.request("POST", path.replace(place.stationId, "sta_none"), asked);
    t.match([noStation.status, noStation.body], [404, { detail: "Station sta_none not found." }]);
    const noLine = await ada.request("POST", path.replace(lineId, "line_none"), asked);
    t.match([noLine.status, noLine.body], [404, { detail: "Line line_none not found." }]);
    const elsewhere = await ada.request("POST", path.replace(place.stationId, place.reviewId), asked);
    t.match(
      [elsewhere.status, elsewhere.body],
      [404, { detail: `Replay set ${setId} not found.` }],
      "of another station",
    );
  }
  for (const [method, path] of [
    ["GET", "srch_none"],
    ["POST", "srch_none/stop"],
    ["POST", "srch_none/candidates/cand_none/pick"],
  ] as const) {
    const none = await ada.request(method, `${team}/searches/${path}`);
    t.match([none.status, none.body], [404, { detail: "Search srch_none not found." }]);
  }
  const noPull = await ada.request("GET", `${team}/config-pull-requests/cpr_none`);
  t.match([noPull.status, noPull.body], [404, { detail: "Config pull request cpr_none not found." }]);
  const noRun = await ada.request("GET", `${team}/search-runs/${(await workTask(place)).runId}`);
  t.equal(noRun.status, 404, "a run of a task is of no search");

  const reader = await bearer(service, ada, { workspaceId, name: "reader", scopes: ["read"] });
  const refused = await reader.request("POST", start, { ...body, agent });
  t.match([refused.status, refused.body], [403, { title: "Not allowed to plan" }]);
  t.equal((await reader.request("POST", estimate, body)).status, 422, "the set is empty");
  t.equal((await reader.request("GET", start)).status, 200);
  const stranger = await service.signIn("stranger@example.com");
  for (const path of [start, estimate]) {
    t.equal((await stranger.request("POST", path, { nonsense: true })).status, 404, "before the body is read");
  }
});

t.test("a set whose station left its line is searched no more", async (t) => {
  const place = await openReplayScene(t);
  const { start, estimate } = toSearches(place);
  const { set } = await fillSet(place, 5);
  const setId = set.split("/").at(-1);
  const [, review] = sceneLine.stations;
  const line = `/api/resources/lines/${place.lineId}`;
  t.equal((await replace(place.ada, line, 1, { ...sceneLine, stations: [review] })).status, 200);
  for (const path of [start, estimate]) {
    const refused = await place.ada.request("POST", path, { setId, budget, ...(path === start ? { agent } : {}) });
    t.match(
      [refused.status, refused.body],
      [409, { detail: /^The station of the replay set was removed from its line\./ }],
    );
  }
});

t.test("where a judge scores and no model is set up, an estimate and a start say so", async (t) => {
  const place = await openReplayScene(t);
  const { start, estimate } = toSearches(place);
  const { set } = await fillSet(place, 5);
  const setId = set.split("/").at(-1);
  const [work, review] = sceneLine.stations;
  const line = `/api/resources/lines/${place.lineId}`;
  const listKinds = async (path: string, more: object) => {
    const { body } = await place.ada.request("POST", path, { setId, budget, ...more });
    const { warnings = [] } = (body ?? {}) as { warnings?: readonly { kind: string }[] };
    return warnings.map(({ kind }) => kind);
  };
  const usual = ["noise-unmeasured", "too-few-to-confirm"];
  t.same(await listKinds(estimate, {}), usual);
  const judged = { ...sceneLine, stations: [{ ...work, judge: { rubric: "Is it good?" } }, review] };
  t.equal((await replace(place.ada, line, 1, judged)).status, 200);
  t.same(await listKinds(estimate, {}), [...usual, "judging-not-set-up"]);
  t.same(await listKinds(start, { agent }), [...usual, "judging-not-set-up"]);
});
