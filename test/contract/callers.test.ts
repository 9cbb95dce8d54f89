import t, { type Test } from "tap";
import type { Route } from "../../http/wire/route.js";
import { toTables } from "../support/route-table.js";
import { type Client, type Reply, startTestService } from "../support/service.js";
import { type CallerKind, callerRows, type Outcome } from "./caller-rows.js";
import { type Asker, insiders, openWorld, outsiders, type World } from "./caller-world.js";

const toName = ({ method, path }: Route) => `${method} ${path}`;

/**
 * Requests that remove resources or sessions that the other requests need. So these requests are sent last, in this
 * order.
 */
const takesAway = [
  "DELETE /api/teams/{teamId}/replay-sets/{setId}",
  "POST /api/workspaces/{slug}/invites/{inviteId}/resend",
  "DELETE /api/teams/{teamId}/members/{userId}",
  "DELETE /api/workspaces/{slug}/members/{userId}",
  "DELETE /api/sessions",
];

function inOrder(routes: readonly Route[]): Route[] {
  const rank = (route: Route) =>
    ["GET", "POST", "PUT", "PATCH", "DELETE"].indexOf(route.method) + 10 * (takesAway.indexOf(toName(route)) + 1);
  return [...routes].sort((left, right) => rank(left) - rank(right));
}

function toOutcome({ status, text }: Reply): Outcome | number {
  if (status >= 500) return status;
  if (status === 404 && text.includes("The integration has no poll.")) return "has-none";
  return status === 401 || status === 403 || status === 404 ? status : "passes";
}

/** Returns an answer as text, without the parts that differ in every request. */
function toBytes({ status, headers, text }: Reply): string {
  const { "x-request-id": _id, date: _date, ...kept } = headers;
  return JSON.stringify([status, Object.entries(kept).sort(), text]);
}

t.test("every route has its row, and every row its route", async (t) => {
  const service = await startTestService(t);
  t.same(Object.keys(callerRows).sort(), toTables(service).routes.map(toName).sort());
});

interface Asked {
  readonly world: World;
  readonly asker: Asker;
  readonly route: Route;
  readonly wanted: Outcome | undefined;
}

/** Returns the differences between the reply and the row. A 404 must also equal the reply for a missing resource. */
async function complaintsAbout({ world, asker: { client, name }, route, wanted }: Asked): Promise<string[]> {
  const reply = await world.send(client, route);
  const complaints: string[] = [];
  if (toOutcome(reply) !== wanted) {
    complaints.push(`${toName(route)} by ${name}: ${reply.status} instead of ${wanted}: ${reply.text.slice(0, 300)}`);
  }
  if (reply.status !== 404 || wanted === "has-none") return complaints;
  const absent = toBytes(await world.send(client, route, "what is not"));
  if (absent !== toBytes(reply)) {
    complaints.push(`${toName(route)} by ${name}: ${toBytes(reply)}, and of what is not there ${absent}`);
  }
  return complaints;
}

async function checkRows(t: Test, rows: readonly Asked[]): Promise<void> {
  const complaints: string[] = [];
  for (const row of rows) complaints.push(...(await complaintsAbout(row)));
  t.same(complaints, [], `${rows.length} rows`);
  t.ok(rows.length > 0);
}

for (const names of [outsiders, ...insiders.map((name) => [name])]) {
  t.test(`${names.join(", ")}: each route answers by its row`, async (t) => {
    const world = await openWorld(t);
    const { routes } = toTables(world.service);
    for (const name of names) {
      const asker = world.askers.find((each) => each.name === name);
      if (asker === undefined) throw new Error(`nobody is ${name}`);
      const wanted = (route: Route) => callerRows[toName(route)]?.(asker.kind);
      await checkRows(
        t,
        inOrder(routes).map((route) => ({ world, asker, route, wanted: wanted(route) })),
      );
    }
  });
}

t.test("a closed workspace grants nothing to anyone, by any route", async (t) => {
  const world = await openWorld(t);
  t.same(
    world.askers.map(({ name }) => name).sort(),
    [...outsiders, ...insiders].sort(),
    "each of them has a test above",
  );
  await world.close();
  const about = toTables(world.service).routes.filter(({ path }) => path.includes("{") || path.endsWith("/import"));
  for (const asker of world.askers) {
    await checkRows(
      t,
      about.map((route) => ({ world, asker, route, wanted: onceClosed(route, asker.kind) })),
    );
  }
});

/**
 * Returns the expected outcome after the workspace was closed. Its members are then strangers, its tokens are invalid,
 * and its invites do not exist.
 */
function onceClosed(route: Route, caller: CallerKind): Outcome | undefined {
  const isPerson = typeof caller === "string" && caller !== "nobody" && caller !== "token of elsewhere";
  const now = isPerson ? "stranger" : typeof caller === "object" ? "nobody" : caller;
  const wanted = callerRows[toName(route)]?.(now);
  return route.path.startsWith("/api/invites/") && wanted !== 401 ? 404 : wanted;
}

t.test(
  "a runner's credential reads nothing of replays, checks and searches, and changes nothing of them",
  async (t) => {
    const world = await openWorld(t);
    const pool = world.service.withToken(world.poolToken);
    const about = toTables(world.service).routes.filter(
      ({ path, credential }) => /replay|search|config-pull|\/config$/.test(path) && credential !== "pool",
    );
    const admitted: string[] = [];
    for (const route of about) {
      const { status } = await world.send(pool, route);
      if (status !== 401 && status !== 404) admitted.push(`${toName(route)}: ${status}`);
    }
    t.same(admitted, [], `${about.length} routes`);
    t.ok(about.length > 30);
  },
);

/** The callers that may open each socket. A runner with its pool's token is tested separately. */
const socketRows: Readonly<Record<string, (caller: CallerKind) => boolean>> = {
  "/api/stream": (caller) => caller !== "nobody",
  "/api/runner": () => false,
};

t.test(
  "every socket opens only for the callers of its row, and for no token once the workspace is closed",
  async (t) => {
    const world = await openWorld(t);
    const { sockets } = toTables(world.service);
    t.same(Object.keys(socketRows).sort(), sockets.map(({ path }) => path).sort(), "a socket has its row");
    const pool = world.service.withToken(world.poolToken);
    t.equal(await opening(pool, "/api/runner"), "open");
    t.match(await opening(pool, "/api/stream"), /401/);
    for (const { client, kind, name } of world.askers) {
      for (const [path, opens] of Object.entries(socketRows)) {
        t.match(await opening(client, path), opens(kind) ? /^open$/ : /401/, `${path} by ${name}`);
      }
    }
    await world.close();
    t.match(await opening(pool, "/api/runner"), /401/);
    for (const { client, kind, name } of world.askers) {
      const isOurs = kind === "nobody" || typeof kind === "object";
      t.match(await opening(client, "/api/stream"), isOurs ? /401/ : /^open$/, `${name} of a closed workspace`);
    }
  },
);

function opening(client: Client, path: string): Promise<string> {
  const socket = client.socket(path);
  return new Promise((resolve) => {
    const said = (text: string) => {
      socket.terminate();
      resolve(text);
    };
    socket.once("error", (error) => said(error.message)).once("open", () => said("open"));
  });
}
