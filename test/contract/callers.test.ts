import t from "tap";
import type { Route } from "../../http/route.js";
import { tablesOf } from "../support/route-table.js";
import { type Client, startTestService } from "../support/service.js";

/** Paths that anyone may ask for; a new one is added here on purpose or not at all. */
const publicRoutes = [
  "POST /api/sign-in",
  "POST /api/sessions",
  "GET /sign-in/{token}",
  // The credential is the OIDC token in the body.
  "POST /api/workspace-tokens/exchange",
  "POST /api/runner-trusts/exchange",
  // Whoever has an invite link may look at it.
  "GET /api/invites/{token}",
  "GET /invites/{token}",
  // Bearer of these is the callback token of a hook's request, which the handler looks at itself.
  "GET /api/hook-callbacks/task",
  "POST /api/hook-callbacks/notes",
  "GET /healthz",
  "GET /readyz",
  "GET /metrics",
  "GET /api/openapi.json",
  "GET /docs",
  "GET /docs/explorer.js",
];

/** Bodies of the right form, so that a caller is refused for who they are. */
const bodies: Readonly<Record<string, unknown>> = {
  "PATCH /api/workspaces/{slug}/members/{userId}": { role: "member" },
  "POST /api/teams/{teamId}/members": { userId: "usr_01J0000000000000000000000" },
};

const nameOf = ({ method, path }: Route) => `${method} ${path}`;

/** A route's path with ids put in where the test has them. */
function fill(route: Route, ids: Readonly<Record<string, string>>): string {
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "none_01J0000000000000000000000");
}

async function statusOf(client: Client, route: Route, path: string): Promise<number> {
  const body = route.method === "GET" || route.method === "DELETE" ? undefined : (bodies[nameOf(route)] ?? {});
  const headers = { "idempotency-key": "k", "if-match": '"1"' };
  return (
    await client.request(route.method, `${path}${route.path.endsWith("/import") ? "?address=x" : ""}`, body, headers)
  ).status;
}

t.test("every route but the public ones needs a credential that admits", async (t) => {
  const service = await startTestService(t);
  const { routes } = tablesOf(service);
  t.same(routes.filter(({ access }) => access === "public").map(nameOf), publicRoutes);
  for (const route of routes.filter(({ access }) => access !== "public")) {
    t.equal(await statusOf(service.anonymous, route, fill(route, {})), 401, `${nameOf(route)} without a credential`);
    t.equal(
      await statusOf(service.withToken("nonsense"), route, fill(route, {})),
      401,
      `${nameOf(route)} with a wrong one`,
    );
  }
});

t.test("a stranger finds nothing of a workspace, by any route, and no route fails", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const eve = await service.signIn("eve@example.com");
  const workspace = await ada.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  const team = await ada.create(`/api/resources/workspaces/${workspace.id}/teams`, { key: "core", name: "Core" });
  const foreign = await eve.create("/api/resources/workspaces", { slug: "evil", name: "Evil" });
  const issued = await eve.request(
    "POST",
    `/api/resources/workspaces/${foreign.id}/tokens`,
    { name: "all", scopes: ["configure", "secrets", "runners", "trusts"] },
    { "idempotency-key": "k" },
  );
  const bearer = service.withToken(issued.headers["service-workspace-token"] ?? "");
  const scoped = tablesOf(service).routes.filter(({ path, access }) => access !== "public" && path.includes("{"));
  t.ok(scoped.length > 30);
  for (const route of scoped) {
    const id = route.path.includes("/teams/{id}") ? team.id : workspace.id;
    const path = fill(route, { workspaceId: workspace.id, teamId: team.id, slug: "acme", id });
    const byStranger = await statusOf(eve, route, path);
    // A body of the wrong form is refused before anything is looked for, so it tells nothing either.
    t.ok(byStranger === 404 || byStranger === 422, `${nameOf(route)} by a stranger answers ${byStranger}`);
    t.equal(byStranger, await statusOf(eve, route, fill(route, {})), "the same as for what is not there");
    const byToken = await statusOf(bearer, route, path);
    t.equal(byToken, route.access === "person" ? 401 : 404, `${nameOf(route)} by a token of elsewhere`);
  }
});

t.test("every socket needs a credential that admits", async (t) => {
  const service = await startTestService(t);
  const { sockets } = tablesOf(service);
  t.ok(sockets.length >= 2);
  for (const { path } of sockets) {
    for (const client of [service.anonymous, service.withToken("nonsense")]) {
      const socket = client.socket(path);
      const said = await new Promise<string>((resolve) => {
        socket.once("error", (error) => resolve(error.message));
        socket.once("open", () => resolve("open"));
      });
      socket.terminate();
      t.match(said, /401/, path);
    }
  }
});
