import t from "tap";
import { personAt } from "../support/people.js";
import { bearer, remove, replace, workspaceWithTeam } from "../support/resources.js";
import { type Client, startTestService } from "../support/service.js";

/** Tests "Configuration changes" and the configuration change record (configuration API). */

const base = "/api/resources";

interface Change {
  readonly seq: number;
  readonly resource: string;
  readonly key: string;
  readonly action: string;
}

async function changes(client: Client, query = ""): Promise<readonly Change[]> {
  const answer = await client.request("GET", `/api/workspaces/acme/configuration-changes${query}`);
  return (answer.body as { readonly items: readonly Change[] }).items;
}

t.test(
  "every create, update and delete is recorded with its fields, and what is refused or repeated is not",
  async (t) => {
    const service = await startTestService(t);
    const ada = await personAt(service, "ada@example.com");
    const { workspaceId, teamId } = await workspaceWithTeam(ada);
    const robot = await bearer(service, ada, { workspaceId, name: "robot", scopes: ["read", "secrets"] });
    const secrets = `${base}/workspaces/${workspaceId}/secrets`;
    const body = { name: "api-key", value: "canary", valueVersion: 1, hosts: ["api.example.com"] };
    const headers = { "idempotency-key": "once", "service-client": "iac-provider/1.0.0" };
    const made = await robot.request("POST", secrets, body, headers);
    const one = `${base}/secrets/${made.body?.id}`;
    await robot.request("POST", secrets, body, headers);
    await robot.request("POST", secrets, { ...body, name: "Wrong" }, { "idempotency-key": "wrong" });
    await replace(ada, one, 7, { ...body, value: undefined });
    await replace(ada, one, 1, { ...body, value: "another canary", valueVersion: 2, hosts: [] });
    await remove(robot, one, 2);
    const skill = { key: "greeting", name: "Greeting", files: [{ path: "SKILL.md", content: "x" }] };
    const { id } = await ada.create(`${base}/teams/${teamId}/skills`, skill);

    const person = { kind: "person", userId: ada.userId, tokenId: null, trust: null };
    const token = { kind: "token", userId: ada.userId, tokenId: robot.tokenId, trust: null };
    const kept = await changes(ada);
    const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
    const secret = { resource: "secret", resourceId: made.body?.id, key: "api-key", at };
    const boundTo = (valueVersion: number, hosts: string[]) => ({ valueVersion, hosts });
    t.match(kept, [
      { seq: 7, resource: "skill", resourceId: id, key: "greeting", action: "created", by: person, client: "unknown" },
      { seq: 6, ...secret, action: "deleted", by: token, client: "unknown", details: boundTo(2, []) },
      { seq: 5, ...secret, action: "updated", by: person, client: "unknown", details: boundTo(2, []) },
      {
        seq: 4,
        ...secret,
        action: "created",
        by: token,
        client: "iac-provider/1.0.0",
        details: boundTo(1, ["api.example.com"]),
      },
      { seq: 3, resource: "workspace-token", resourceId: robot.tokenId, key: "robot", action: "created", by: person },
      { seq: 2, resource: "team", resourceId: teamId, key: "core", action: "created", by: person },
      { seq: 1, resource: "workspace", resourceId: workspaceId, key: "acme", action: "created", by: person },
    ]);
    t.equal(kept.length, 7);
    const members = ["action", "at", "by", "client", "details", "key", "resource", "resourceId", "seq"];
    for (const change of kept) t.same(Object.keys(change).sort(), members);
    t.notMatch(JSON.stringify(kept), /canary/);
  },
);

t.test("the log is read backwards by pages of 50, 200 at most", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const workspace = `${base}/workspaces/${workspaceId}`;
  for (let version = 1; version <= 201; version++)
    await replace(ada, workspace, version, { slug: "acme", name: `Acme ${version}` });
  const whole = Array.from({ length: 203 }, (_, index) => 203 - index);
  const seqs = async (query?: string) => (await changes(ada, query)).map(({ seq }) => seq);
  t.same(await seqs(), whole.slice(0, 50));
  t.same(await seqs("?limit=200"), whole.slice(0, 200));
  t.same(await seqs("?limit=200&before=4"), [3, 2, 1]);
  t.same(await seqs("?limit=1&before=203"), [202]);
  t.same(await seqs("?before=1"), []);
  for (const query of ["limit=201", "limit=0", "limit=1.5", "limit=many", "before=0", "after=1"]) {
    const refused = await ada.request("GET", `/api/workspaces/acme/configuration-changes?${query}`);
    t.equal(refused.status, 400, query);
  }
});
