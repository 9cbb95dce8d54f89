import t from "tap";
import { createKinds } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { workspaceWithTeam } from "../../support/resources.js";
import { toTables } from "../../support/route-table.js";
import { startTestService } from "../../support/service.js";

const NONE = "01M00000000000000000000000";

/** Paths with the wrong kind of id, and the hint in their answer. */
const hints: readonly [method: "GET" | "POST", path: string, hint: RegExp][] = [
  [
    "GET",
    "/api/resources/teams/core",
    /^ids look like team_…; `core` is a key: GET \/api\/resources\/workspaces\/<workspace id>\/teams\/import\?address=core$/,
  ],
  ["GET", "/api/resources/teams/no-such-team", /^ids look like team_…; `no-such-team` is a key: /],
  [
    "GET",
    "/api/resources/workspaces/acme",
    /ws_…; `acme` is a slug: GET \/api\/resources\/workspaces\/import\?address=acme$/,
  ],
  ["GET", "/api/resources/workspaces/acme/teams", /ws_…; `acme` is a slug: /],
  ["GET", "/api/resources/workspaces/acme/export", /ws_…; `acme` is a slug: /],
  ["GET", "/api/resources/lines/fix", /line_…; `fix` is a key: GET .*\/lines\/import\?address=<team key>\/fix$/],
  [
    "GET",
    "/api/resources/lines/core%2Ffix",
    /line_…; `core\/fix` is an address: GET .*\/lines\/import\?address=core\/fix$/,
  ],
  [
    "GET",
    "/api/resources/lines/core/fix",
    /line_…; `core\/fix` is an address: GET .*\/lines\/import\?address=core\/fix$/,
  ],
  ["GET", "/api/resources/lines/core/fix/hcl", /`core\/fix` is an address/],
  ["GET", "/api/resources/secrets/deploy", /sec_…; `deploy` is a name: GET .*\/secrets\/import\?address=deploy$/],
  ["GET", "/api/resources/integrations/core/tracker", /int_…; `core\/tracker` is an address/],
  ["GET", "/api/integrations/core/tracker/deliveries", /int_…; `core\/tracker` is an address/],
  ["GET", "/api/integrations/tracker/deliveries", /int_…; `tracker` is a key/],
  ["GET", "/api/resources/replay-candidates/core/fix/work/Careful", /cand_…; `core\/fix\/work\/Careful` is an address/],
  [
    "GET",
    "/api/resources/replay-candidates/Mine:%20100%20%25",
    /cand_…; `Mine: 100 %` is a name: GET .*Mine%3A%20100%20%25$/,
  ],
  ["GET", "/api/teams/core/tasks", /team_…; `core` is a key/],
  ["POST", "/api/teams/core/tasks", /team_…; `core` is a key/],
  ["POST", "/api/hooks/core/tell/test", /hook_…; `core\/tell` is an address/],
  ["GET", "/api/tasks/17", /^ids look like task_…; `17` is not one: GET \/api\/teams\/<team id>\/tasks lists the ids$/],
  ["GET", `/api/tasks/run_${NONE}`, /^ids look like task_…; `run_\w+` is the id of another kind: /],
  ["GET", `/api/workspaces/ws_${NONE}/members`, /^`ws_\w+` is an id, and this path takes the workspace's slug: GET /],
  [
    "GET",
    `/api/teams/team_${NONE}/lines/line_${NONE}/stations/work/replay-sets`,
    /sta_…; `work` is a key: GET \/api\/resources\/lines\/line_\w+ lists the ids$/,
  ],
  [
    "GET",
    `/api/teams/team_${NONE}/hook-occurrences/tell`,
    /occ_…; `tell` is not one: GET \/api\/teams\/team_\w+\/hook-occurrences lists the ids$/,
  ],
  ["GET", "/api/pull-requests/17", /pr_…; `17` is not one: GET \/api\/teams\/<team id>\/pull-requests lists the ids$/],
  [
    "POST",
    "/api/workspaces/acme/dead-letters/17/retry",
    /dead_…; `17` is not one: GET .*\/dead-letters lists the ids$/,
  ],
  ["GET", `/api/tasks/task_${NONE}/attachments/a.txt`, /att_…; `a.txt` is not one: GET \/api\/tasks\/task_\w+ lists/],
  ["GET", `/api/teams/team_${NONE}/config-pull-requests/17`, /cpr_…; `17` is not one: GET .*\/searches\/<search id> /],
];

function findBody(method: "GET" | "POST", path: string): object | undefined {
  if (method === "GET") return undefined;
  return path.endsWith("/retry") ? {} : { title: "x", line: "fix" };
}

/** Paths whose answer has no hint: valid ids, values that a hint must not repeat, and paths of no route. */
const unhinted = [
  `/api/resources/teams/team_${NONE}`,
  "/api/resources/teams/team_none",
  "/api/resources/teams/none_01J000000000000000000000",
  "/api/resources/teams/a%60b",
  "/api/resources/teams/a%0Ab",
  `/api/resources/teams/${"x".repeat(201)}`,
  "/nowhere/at/all",
  `/${Array.from({ length: 5_000 }, () => "a").join("/")}`,
];

for (const TRANSPORT of ["uws", "node"]) {
  t.test(`over ${TRANSPORT}, a 404 says what its path takes in place of a key or an address`, async (t) => {
    const service = await startTestService(t, { settings: { TRANSPORT } });
    const ada = await service.signIn("ada@example.com");
    await workspaceWithTeam(ada);
    for (const [method, path, hint] of hints) {
      const reply = await ada.request(method, path, findBody(method, path));
      t.match([reply.status, reply.body], [404, { type: "urn:service:problem:not-found", detail: /\S/, hint }], path);
    }
    for (const path of unhinted) {
      const { status, body } = await ada.request("GET", path);
      t.same([status, body?.hint], [404, undefined], path.slice(0, 80));
    }
  });
}

t.test(
  "a hint tells nobody whether anything is there: it is the same for a team one sees, another's and none",
  async (t) => {
    const service = await startTestService(t);
    const [ada, eve] = [await service.signIn("ada@example.com"), await service.signIn("eve@example.com")];
    const { teamId } = await workspaceWithTeam(ada);
    const seen = async (client: typeof ada, path: string) => (await client.request("GET", path)).text;
    t.equal(await seen(ada, "/api/resources/teams/core"), await seen(eve, "/api/resources/teams/core"));
    t.equal((await seen(eve, `/api/resources/teams/${teamId}`)).includes("hint"), false);
    t.equal((await service.anonymous.request("GET", "/api/resources/teams/core")).status, 401);
  },
);

t.test("every path that a person or token asks about an id of one kind has a hint", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  await workspaceWithTeam(ada);
  const paths = toTables(service).routes.filter(
    ({ method, path, credential }) =>
      // Paths with `installation` are left out, because the code host's ids are numbers.
      method === "GET" &&
      path !== "/api/find/{id}" &&
      path !== "/api/inbox/{id}" &&
      /^\/api\/.*\{(\w*I|i)d\}/.test(path) &&
      credential !== "pool" &&
      !path.includes("installation"),
  );
  t.ok(paths.length > 20);
  for (const { path } of paths) {
    const { status, body } = await ada.request(
      "GET",
      path.replace("{slug}", "acme").replaceAll(/\{\w+\}/g, "some-key"),
    );
    if (status === 404) t.match(body?.hint, /^ids look like [a-z]+_…; `some-key` is /, path);
    else t.equal(status, 400, path);
  }
});

t.test("every path of a resource kind has a hint for each of its ids", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  const paths = toTables(service)
    .routes.filter(({ method, path }) => method === "GET" && path.startsWith("/api/resources/") && path.includes("{"))
    .map(({ path }) => path);
  t.ok(paths.length > 2 * kinds.length);
  for (const path of paths) {
    const asked = `${path.replace(/\{\w+\}/g, "some-key")}${path.endsWith("/import") ? "?address=a" : ""}`;
    const { status, body } = await ada.request("GET", asked);
    t.match([status, body], [404, { hint: /^ids look like [a-z]+_…; `some-key` is a / }], path);
  }
});
