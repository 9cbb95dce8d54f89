import t from "tap";
import { findExampleBody } from "../../http/resources/kind-examples.js";
import { join, personAt } from "../support/people.js";
import {
  bearer,
  createUnder,
  listItems,
  remove,
  replace,
  toProblem,
  toSlug,
  workspaceWithTeam,
} from "../support/resources.js";
import { type Client, type Reply, startTestService } from "../support/service.js";

/** Tests "Errors", their paths, and "Titles of 403 answers" (configuration API). */

const base = "/api/resources";
const everyProblem = ["type", "title", "status", "detail"];

/** Members that some problems have in addition to the four members of every problem. */
const further: Readonly<Record<string, string>> = {
  invalid: "errors",
  "moved-on": "currentVersion",
  forbidden: "permission",
};

t.test("each status and slug has its cause and exactly its documented members", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const bob = await join(service, ada, "bob@example.com");
  const team = `${base}/teams/${teamId}`;
  const skills = `${team}/skills`;
  const skill = { key: "greeting", name: "Greeting", files: [{ path: "SKILL.md", content: "x" }] };
  await createUnder(ada, skills, skill, "used");
  const teams = `${base}/workspaces/${workspaceId}/teams`;
  const me = `/api/workspaces/acme/members/${ada.userId}`;
  const put = (headers: Record<string, string>) => ada.request("PUT", team, { key: "core", name: "Core" }, headers);

  const causes: readonly [status: number, slug: string, cause: () => Promise<Reply>][] = [
    [400, "bad-request", () => ada.request("POST", teams, "{")],
    [400, "idempotency-key-required", () => ada.request("POST", teams, { key: "other", name: "Other" })],
    [400, "malformed-if-match", () => put({ "if-match": "1" })],
    [400, "unsupported-api-version", () => put({ "service-api-version": "2025-01-01" })],
    [401, "unauthenticated", () => service.anonymous.request("GET", team)],
    [403, "forbidden", () => createUnder(bob, teams, { key: "his", name: "His" }, "his")],
    [404, "not-found", () => ada.request("GET", `${base}/teams/team_none`)],
    [409, "already-exists", () => createUnder(ada, teams, { key: "core", name: "Core" }, "again")],
    [409, "moved-on", () => put({ "if-match": '"7"' })],
    [409, "in-use", () => remove(ada, team, 1)],
    [409, "conflict", () => ada.request("PATCH", me, { role: "member" })],
    [422, "invalid", () => createUnder(ada, teams, { key: "Core", name: "" }, "wrong")],
    [422, "idempotency-key-reused", () => createUnder(ada, skills, { ...skill, key: "other" }, "used")],
    [428, "precondition-required", () => put({})],
  ];
  for (const [status, slug, cause] of causes) {
    const { status: sent, headers, body } = await cause();
    t.same([sent, headers["content-type"]], [status, "application/problem+json"], slug);
    t.match(body, { type: `urn:service:problem:${slug}`, status, title: /^[A-Z].*[^.]$/, detail: /^[A-Za-z].*/ }, slug);
    const members = slug in further ? [...everyProblem, further[slug]] : everyProblem;
    t.same(Object.keys(body ?? {}), members, slug);
  }
  t.equal(toProblem(await put({ "if-match": '"7"' })).currentVersion, 1);
  const wrong = await createUnder(ada, teams, { key: "Core", name: "" }, "wrong");
  t.equal(toProblem(wrong).detail, "key: must be lowercase words joined by dashes\nname: must not be empty");
  t.same(toProblem(wrong).errors, [
    { path: "key", message: "must be lowercase words joined by dashes", severity: "error" },
    { path: "name", message: "must not be empty", severity: "error" },
  ]);
});

/** The forms of a path in an error, each with a body that causes the error. */
const pathForms: readonly [path: string, collection: string, wrong: Record<string, unknown>][] = [
  ["name", "skills", { name: "" }],
  ["files[1].content", "skills", { files: [{ path: "SKILL.md", content: "x" }, { path: "more.md" }] }],
  ["tools.comment.approval", "integrations", { tools: { comment: { description: "x", approval: "yes" } } }],
  ['tools["odd-1"].approval', "integrations", { tools: { "odd-1": { description: "x", approval: "yes" } } }],
  ['env["quo\\"te"]', "harness-profiles", { env: { 'quo"te': "x" } }],
];

const kindOfCollection: Readonly<Record<string, string>> = {
  skills: "skill",
  "harness-profiles": "harness-profile",
  integrations: "integration",
};

t.test("each error of a body is reported at its path, in the documented form", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { teamId } = await workspaceWithTeam(ada);
  for (const [index, [path, collection, wrong]] of pathForms.entries()) {
    const body = { ...findExampleBody(kindOfCollection[collection] ?? "")?.(0), ...wrong };
    const answer = await createUnder(ada, `${base}/teams/${teamId}/${collection}`, body, `form-${index}`);
    t.equal(answer.status, 422, path);
    t.ok(
      toProblem(answer).errors?.some((error) => error.path === path),
      `${path} in ${answer.text}`,
    );
  }
});

const changing: readonly [permission: string, kind: string, collection: string][] = [
  ["configure", "team", "workspace/teams"],
  ["configure", "line", "team/lines"],
  ["configure", "skill", "team/skills"],
  ["configure", "harness-profile", "team/harness-profiles"],
  ["configure", "integration", "team/integrations"],
  ["configure", "hook", "team/hooks"],
  ["manage-secrets", "secret", "workspace/secrets"],
  ["manage-runners", "runner-pool", "workspace/runner-pools"],
  ["manage-runners", "runner-trust", "workspace/runner-trusts"],
  ["manage-runners", "workspace-runners", "workspace/workspace-runners"],
  ["manage-token-trusts", "workspace-token-trust", "workspace/token-trusts"],
];

t.test("a 403 names the missing permission, under the title of the reference", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const bob = await join(service, ada, "bob@example.com");
  const robot = await bearer(service, ada, { workspaceId, name: "robot", scopes: ["read"] });
  const refused = async (asked: Promise<Reply>, title: string, permission: string) => {
    const answer = await asked;
    t.same([answer.status, toSlug(answer)], [403, "forbidden"], title);
    t.match(answer.body, { title, permission, detail: new RegExp(`\\b${permission}\\b`) });
    t.equal(answer.body?.title, title);
  };
  const holders = { workspace: `${base}/workspaces/${workspaceId}`, team: `${base}/teams/${teamId}` };
  const workspace = holders.workspace;
  for (const client of [bob, robot]) {
    for (const [permission, kind, collection] of changing) {
      const path = collection.replace(/^\w+/, (holder) => holders[holder === "team" ? "team" : "workspace"]);
      await refused(createUnder(client, path, {}, "any"), `Not allowed to change the ${kind}`, permission);
    }
    const tokens = createUnder(client, `${workspace}/tokens`, {}, "any");
    await refused(tokens, "Not allowed to administer the workspace-token", "administer");
    await refused(remove(client, workspace, 1), "Not allowed to administer the workspace", "administer");
    const renamed = replace(client, workspace, 1, { slug: "acme", name: "Other" });
    await refused(renamed, "Not allowed to change the workspace", "configure");
    const added = client.request("POST", `/api/teams/${teamId}/members`, { userId: bob.userId });
    await refused(added, "Not allowed to administer the team", "administer");
  }
  const opened = createUnder(robot, `${base}/workspaces`, { slug: "mine", name: "Mine" }, "any");
  await refused(opened, "Not allowed to open a workspace", "open-workspaces");
  const checked = robot.request("POST", "/api/expressions/check", {
    position: "when",
    expression: "true",
    definition: {},
  });
  await refused(checked, "Not allowed to plan", "plan");
});

t.test("a caller without the permission is refused before the body is checked", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const bob = await join(service, ada, "bob@example.com");
  const eve = await service.signIn("eve@example.com");
  const reader = await bearer(service, ada, { workspaceId, name: "reader", scopes: ["read"] });
  const invites = "/api/workspaces/acme/invites";
  await ada.request("POST", invites, { emails: ["carl@example.com"] });
  const [invite] = listItems(await ada.request("GET", invites));
  const { anonymous } = service;
  const rows: readonly [who: Client, method: string, path: string, status: number, slug: string][] = [
    [bob, "POST", invites, 404, "not-found"],
    [bob, "POST", `${invites}/${invite?.id}/resend`, 404, "not-found"],
    [reader, "POST", invites, 401, "unauthenticated"],
    [anonymous, "POST", invites, 401, "unauthenticated"],
    [bob, "PATCH", `/api/workspaces/acme/members/${ada.userId}`, 403, "forbidden"],
    [eve, "PATCH", `/api/workspaces/acme/members/${ada.userId}`, 404, "not-found"],
    [reader, "PATCH", `/api/workspaces/acme/members/${ada.userId}`, 403, "forbidden"],
    [bob, "POST", `/api/teams/${teamId}/members`, 403, "forbidden"],
    [eve, "POST", `/api/teams/${teamId}/members`, 404, "not-found"],
    [reader, "POST", "/api/expressions/check", 403, "forbidden"],
    [bob, "POST", `${base}/teams/${teamId}/hooks`, 403, "forbidden"],
    [eve, "POST", `${base}/teams/${teamId}/hooks`, 404, "not-found"],
    [bob, "PUT", `${base}/teams/${teamId}`, 403, "forbidden"],
  ];
  for (const [who, method, path, status, slug] of rows) {
    const answer = await who.request(method, path, { odd: true });
    t.same([answer.status, toSlug(answer)], [status, slug], `${method} ${path}`);
  }
  t.equal(
    (await bob.request("POST", "/api/expressions/check", { odd: true })).status,
    422,
    "who may is told of the body",
  );
  t.match((await anonymous.request("POST", invites)).body, {
    detail: "This endpoint requires a signed-in user; workspace tokens are not accepted.",
  });
});
