import t from "tap";
import { z } from "zod";
import { type Route, toAnswers, toSuccess } from "../../http/wire/route.js";
import { toTables } from "../support/route-table.js";
import type { Client } from "../support/service.js";
import { startTestService } from "../support/service.js";
import { openLists, type Places } from "./paged-lists.js";

const toName = ({ method, path }: Route) => `${method} ${path}`;

/** Returns the routes whose answer is a page of a list: those with the query parameter `before` or `after`. */
function listPaged(routes: readonly Route[]): readonly Route[] {
  return routes.filter((route) => toCursorName(route) !== undefined);
}

/** Returns the query parameter that takes a page's `next`; undefined if the route has none. */
function toCursorName({ query }: Route): "after" | "before" | undefined {
  const names = Object.keys(query instanceof z.ZodObject ? query.shape : {});
  return names.includes("before") ? "before" : names.includes("after") ? "after" : undefined;
}

function toBody(route: Route): z.ZodObject | null {
  const declared = toAnswers(route)[200];
  const body = declared === undefined ? null : toSuccess(declared).body;
  return body instanceof z.ZodObject ? body : null;
}

t.test("every list that takes `before` or `after` declares a `next` that is a text or null", async (t) => {
  const lists = listPaged(toTables(await startTestService(t)).routes);
  const lacking = lists.filter((route) => {
    const next = toBody(route)?.shape.next as z.ZodType | undefined;
    const takes = (value: unknown) => next?.safeParse(value).success === true;
    return !takes("x") || !takes(null) || takes(undefined) || takes(1);
  });
  t.same(lacking.map(toName), []);
  t.ok(lists.length >= 24, `${lists.length} lists`);
});

/** By route, the member of the answer that contains the items. For all other routes, this member is `items`. */
const members: Readonly<Record<string, string>> = {
  "GET /api/teams/{teamId}/events/{occurrence}/hooks": "hooks",
  "GET /api/teams/{teamId}/replay-runs/{runId}": "steps",
  "GET /api/teams/{teamId}/search-runs/{runId}": "steps",
};

/** The id to use for `{runId}` in each path. */
function toRunId({ path }: Route, places: Places): string | undefined {
  if (path.includes("/replay-runs/")) return places.replayRunId;
  return path.includes("/search-runs/") ? places.searchRunId : places.taskRunId;
}

interface Asked {
  readonly owner: Client;
  readonly places: Places;
  readonly route: Route;
}

async function readPage({ owner, places, route }: Asked, query: Readonly<Record<string, string>>) {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = name === "runId" ? toRunId(route, places) : places[name];
    if (value === undefined) throw new Error(`${toName(route)} needs ${name}`);
    return value;
  });
  const reply = await owner.request("GET", `${path}?${new URLSearchParams(query)}`);
  if (reply.status !== 200) throw new Error(`${toName(route)} answered ${reply.status} ${reply.text}`);
  const items = reply.body?.[members[toName(route)] ?? "items"] as readonly unknown[];
  return { items, next: reply.body?.next as string | null };
}

/** Reads a list to its end, page by page. Returns the size of each page, and the items. */
async function readToEnd(asked: Asked, limit: number) {
  const cursor = toCursorName(asked.route) ?? "";
  const sizes: number[] = [];
  const items: unknown[] = [];
  let next: string | null = null;
  do {
    const page = await readPage(asked, { limit: String(limit), ...(next === null ? {} : { [cursor]: next }) });
    sizes.push(page.items.length);
    items.push(...page.items);
    next = page.next;
  } while (next !== null && sizes.length < 200);
  return { sizes, items };
}

t.test("paging by `next` to the end yields every item once, and no empty page", async (t) => {
  const { service, owner, places } = await openLists(t);
  const complaints: unknown[] = [];
  for (const route of listPaged(toTables(service).routes)) {
    const asked = { owner, places, route };
    const whole = await readPage(asked, { limit: "50" });
    const count = whole.items.length;
    if (count < 3 || whole.next !== null) complaints.push([toName(route), "of", count, "then", whole.next]);
    for (const limit of [1, 2, count]) {
      const { sizes, items } = await readToEnd(asked, limit);
      const isWhole = JSON.stringify(items) === JSON.stringify(whole.items);
      const wanted = Array.from({ length: Math.ceil(count / limit) }, (_, n) => Math.min(limit, count - n * limit));
      if (!isWhole || sizes.join() !== wanted.join())
        complaints.push([toName(route), { limit, count, sizes, isWhole }]);
    }
  }
  t.same(complaints, []);
});
