import t from "tap";
import type { WorkEvent } from "../../../../actors/events/catalogue.js";
import type { HookFields } from "../../../../actors/hooks/hook.js";
import { hookKind } from "../../../../actors/hooks/hook.kind.js";
import {
  type HookRow,
  MATCH_START,
  MAX_MATCH_COST,
  type MatchCursor,
  matchHooks,
} from "../../../../actors/hooks/matching/match-hooks.js";
import { parseAllowList } from "../../../../actors/outbound/http/allow-list.js";
import { putResource } from "../../../../actors/resources/resource-indexes.table.js";
import type { Reading } from "../../../../storage/store.js";
import { memoryRows } from "../../../support/turn.js";
import { VersionedReading } from "../../../support/versioned-reading.js";

const kind = hookKind({ allowList: parseAllowList(""), signsTokens: false });
const workspaceId = "ws_1";
const teamId = "team_1";

/** Returns a hook row with its own id, because compiled conditions are cached by id and version. */
function row(index: number, fields: Partial<Record<keyof HookFields, unknown>>): HookRow {
  const id = `hook_${String(index).padStart(26, "0")}`;
  const key = `hook-${index}`;
  return {
    id,
    kind: "hook",
    version: 1,
    workspaceId,
    teamId,
    address: `core/${key}`,
    hidden: {},
    added: {},
    fields: kind.schema.parse({ key, on: "task.moved", steps: [{ name: "tell" }], ...fields }),
    createdAt: "",
    updatedAt: "",
  };
}

function rowsWith(hooks: readonly HookRow[]): Reading {
  const rows = memoryRows();
  for (const hook of hooks) putResource(rows, kind, hook, null);
  return rows;
}

function moved(repositories: readonly string[] = ["acme/app"]): WorkEvent {
  return {
    on: "task.moved",
    occurrence: "occ_1",
    workspaceId,
    teamId,
    lineId: "line_1",
    stationId: "sta_1",
    task: {
      id: "task_1",
      title: "Do it",
      url: "",
      line: "dev",
      station: "Work",
      stationKey: "work",
      marks: {},
      repositories,
      pullRequest: null,
    },
    run: null,
    causes: [],
    event: { at: "", from: "work", to: "review" },
  };
}

/**
 * Matches all hooks, with a given number of units per portion. Returns the matching hooks in order, and the number of
 * portions.
 */
function judgeAll(reading: Reading, work: WorkEvent, toUnits: () => number) {
  const fires: string[] = [];
  let portions = 0;
  for (let from: MatchCursor | null = MATCH_START; from !== null; portions++) {
    const { fires: some, next } = matchHooks(reading, work, { from, units: toUnits() });
    fires.push(...some.map(({ fields }) => fields.key));
    from = next;
  }
  return { fires, portions };
}

t.test("an event reads only the hooks that could match, however many others the team has", async (t) => {
  const lists = [
    { lines: ["other"] },
    { stations: ["other"] },
    { repositories: ["acme/other"] },
    { lines: ["else", "dev2"] },
  ];
  const others = Array.from({ length: 10_000 }, (_, index) =>
    row(1_000 + index, index % 5 === 4 ? { on: "task.opened" } : { match: lists[index % 5] }),
  );
  const own = [
    row(1, {}),
    row(2, { match: { lines: ["dev"] } }),
    row(3, { match: { stations: ["work", "review"] } }),
    row(4, { match: { repositories: ["acme/app"] } }),
    row(5, { match: { lines: ["dev"] }, when: "event.to == 'done'" }),
  ];
  const asked = (hooks: readonly HookRow[]) => {
    const reading = rowsWith(hooks);
    let count = 0;
    const counting: Reading = {
      get: (key) => {
        count += 1;
        return reading.get(key);
      },
      range: (range) => {
        const entries = reading.range(range);
        count += 1 + entries.length;
        return entries as never;
      },
    };
    const { fires } = matchHooks(counting, moved(), { from: MATCH_START, units: MAX_MATCH_COST });
    return { count, fires: fires.map(({ fields }) => fields.key).sort() };
  };
  const alone = asked(own);
  t.same(alone.fires, ["hook-1", "hook-2", "hook-3", "hook-4"]);
  t.same(asked([...others, ...own]), alone);
});

t.test("with any cost limit of a slice the same hooks fire, in the same order", async (t) => {
  const numbers = JSON.stringify(Array.from({ length: 30 }, (_, index) => index));
  const dear = `${numbers}.all(a, ${numbers}.exists(b, a == b))`;
  const matches = [{}, { lines: ["dev"] }, { stations: ["work"] }, { repositories: ["acme/app", "acme/site"] }];
  const whens = [null, "event.to == 'review'", dear, `!${dear}`, `${dear} && event.to == 'done'`];
  const hooks = Array.from({ length: 200 }, (_, index) =>
    row(100_000 + index, { match: matches[index % matches.length], when: whens[index % whens.length] }),
  );
  const reading = rowsWith(hooks);
  const work = moved(["acme/site", "acme/app", "acme/none"]);
  const whole = judgeAll(reading, work, () => Number.MAX_SAFE_INTEGER);
  t.equal(whole.portions, 1);
  t.equal(new Set(whole.fires).size, whole.fires.length, "none twice");
  t.equal(whole.fires.length, 120);
  for (const units of [MAX_MATCH_COST, MAX_MATCH_COST + 7_777]) {
    const { fires, portions } = judgeAll(reading, work, () => units);
    t.same(fires, whole.fires);
    t.ok(portions > 3, `in ${portions} portions`);
  }
  let n = 0;
  const begun = judgeAll(reading, work, () => (n++ === 0 ? 1_000 : MAX_MATCH_COST));
  t.same(begun.fires, whole.fires, "begun with less than one takes");
});

t.test("a slice reads few hooks that are expensive to read or to compile", async (t) => {
  const long: Readonly<Record<string, Partial<Record<keyof HookFields, unknown>>>> = {
    values: { steps: [{ name: "tell", request: { url: "https://a.test/", body: Array(15_000).fill({}) } }] },
    text: { steps: [{ name: "tell", request: { url: "https://a.test/", body: "x".repeat(1_500_000) } }] },
    vars: { vars: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`v${at}`, "x".repeat(2_000)])) },
    globs: { on: "pull-request.opening", match: { paths: Array(100).fill("**/a*".repeat(100)) } },
  };
  for (const [offset, [what, fields]] of Object.entries(long).entries()) {
    const hooks = Array.from({ length: 30 }, (_, index) => row(200_000 + 1_000 * offset + index, fields));
    const reading = rowsWith(hooks);
    let read = 0;
    const counting: Reading = {
      get: (key) => {
        read += 1;
        return reading.get(key);
      },
      range: (range) => reading.range(range),
    };
    const work = { ...moved(), on: hooks[0]?.fields.on ?? "task.moved" };
    const most: number[] = [];
    for (let from: MatchCursor | null = MATCH_START; from !== null; ) {
      read = 0;
      from = matchHooks(counting, work, { from, units: MAX_MATCH_COST }).next;
      most.push(read);
    }
    t.ok(Math.max(...most) > 0 && Math.max(...most) <= 20, `${what}: ${most}`);
  }
});

t.test("few hooks are held until the version of their rows changes, many are read each time", (t) => {
  const rows = memoryRows();
  const reading = new VersionedReading(rows);
  const listFires = () => matchHooks(reading, moved(), { from: MATCH_START, units: MAX_MATCH_COST }).fires;
  const toReads = () => reading.during(listFires);
  const hook = row(9_001, {});
  putResource(rows, kind, hook, null);
  t.same(listFires(), [hook]);
  t.equal(toReads(), 0);
  const other = row(9_002, { match: { lines: ["dev"] } });
  putResource(rows, kind, other, null);
  reading.version = null;
  t.same(listFires(), [hook, other], "while rows change they are read");
  reading.version = 2;
  t.same(listFires(), [hook, other]);
  t.equal(toReads(), 0);
  for (let n = 3; n < 20; n++) putResource(rows, kind, row(9_000 + n, {}), null);
  reading.version = 3;
  listFires();
  t.ok(toReads() > 0, "many are not held");
  t.end();
});
