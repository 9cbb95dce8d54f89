import t from "tap";
import { bearer, workspaceWithTeam } from "../../support/resources.js";
import { toTables } from "../../support/route-table.js";
import { type Client, startTestService } from "../../support/service.js";

/** Tests what routes for signed-in people answer to the bearer of a workspace token. */

t.test("every route for people alone tells the bearer of a valid token that a person must sign in", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const scopes = ["configure", "secrets", "runners", "trusts", "work"] as const;
  const token = await bearer(service, ada, { workspaceId, name: "all", scopes });
  const routes = toTables(service).routes.filter(({ access }) => access === "person");
  const paths = routes.map(({ method, path }) => `${method} ${path}`);
  for (const act of [
    "tasks/{taskId}/answer",
    "tasks/{taskId}/stop",
    "runs/{runId}/messages",
    "tasks/{taskId}/assign",
  ]) {
    t.ok(paths.includes(`POST /api/${act}`), act);
  }
  const read = async (client: Client) => {
    const answers = new Set<string>();
    for (const { method, path } of routes) {
      const body = method === "GET" || method === "DELETE" ? undefined : {};
      answers.add((await client.request(method, path.replace(/\{\w+\}/g, "none"), body)).text);
    }
    return [...answers].map((text) => JSON.parse(text) as unknown);
  };
  const refused = { type: "urn:service:problem:unauthenticated", status: 401 };
  const needed = "This endpoint requires a signed-in user; workspace tokens are not accepted.";
  t.same(await read(token), [
    {
      ...refused,
      title: "A signed-in user is required",
      detail: `${needed} Your token is valid: sign in as a person to make this request.`,
    },
  ]);
  t.same(await read(service.withToken("nonsense")), [
    { ...refused, title: "No valid credentials", detail: "The token is not valid, or it was revoked or expired." },
  ]);
  t.same(await read(service.anonymous), [{ ...refused, title: "No valid credentials", detail: needed }]);
});
