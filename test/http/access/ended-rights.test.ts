import t from "tap";
import type { Caller } from "../../../actors/caller.js";
import { isRefusal } from "../../../actors/refusal.js";
import type { DeleteResource } from "../../../actors/resources/resource.messages.js";
import type { JoinTeam } from "../../../actors/workspaces/membership.transitions.js";
import { address } from "../../../runtime/cells/address.js";
import { join } from "../../support/people.js";
import { bearer, createUnder, listItems, remove, replace, workspaceWithTeam } from "../../support/resources.js";
import { startTestService, type TestService } from "../../support/service.js";
import { openShop } from "../../support/token-shop.js";

/** A write waits for its turn in its workspace. If the caller's right ends before the turn, the write is refused. */

const base = "/api/resources";

/** Sends a delete whose caller was authorized before the delete's turn. Returns the outcome. */
async function lateDelete(service: TestService, caller: Caller, of: { workspaceId: string; kind: string; id: string }) {
  const { workspaceId, kind, id } = of;
  const message: DeleteResource = { type: "resource.delete", kind, caller, client: null, id, version: 1 };
  const answer = await service.runtime.ask(address(workspaceId, "workspace", workspaceId), message);
  return isRefusal(answer) ? answer.refused : "deleted";
}

t.test("a token that was revoked, expired or minted under other terms writes nothing in a later turn", async (t) => {
  const { service, ada, workspaceId, trust, body, minted } = await openShop(t);
  const me = String((await ada.request("GET", "/api/sessions/me")).body?.userId);
  const team = await ada.create(`${base}/workspaces/${workspaceId}/teams`, { key: "spare", name: "Spare" });
  const about = { workspaceId, kind: "team", id: team.id };
  const toCaller = (tokenId: string, from: string | null): Caller => ({
    kind: "token",
    tokenId,
    workspaceId,
    scopes: ["configure"],
    issuedBy: me,
    trust: from,
  });
  const robot = await bearer(service, ada, { workspaceId, name: "robot", scopes: ["configure"] });
  await remove(ada, `${base}/tokens/${robot.tokenId}`, 1);
  t.equal(await lateDelete(service, toCaller(robot.tokenId, null), about), "unauthenticated");
  const ci = await minted();
  await replace(ada, `${base}/token-trusts/${trust.id}`, 1, { ...body, lifetimeMinutes: 20 });
  t.equal(await lateDelete(service, toCaller(ci.tokenId, trust.id), about), "unauthenticated");
  const again = await minted();
  t.equal(await lateDelete(service, toCaller(again.tokenId, trust.id), about), "deleted");
});

t.test("a person who was demoted or removed meanwhile writes nothing, and nobody in a closed workspace", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const bob = await join(service, ada, "bob@example.com", { role: "admin" });
  const caller: Caller = { kind: "person", userId: bob.userId, email: bob.email, sessionId: "any" };
  const team = { workspaceId, kind: "team", id: teamId };
  const members = `/api/workspaces/acme/members/${bob.userId}`;
  await ada.request("PATCH", members, { role: "member" });
  t.equal(await lateDelete(service, caller, team), "forbidden");
  t.equal(await lateDelete(service, caller, { workspaceId, kind: "workspace", id: workspaceId }), "forbidden");
  const joining: JoinTeam = { type: "team.join", by: bob.userId, teamId, userId: bob.userId };
  t.match(await service.runtime.ask(address(workspaceId, "workspace", workspaceId), joining), {
    refused: "forbidden",
    title: "Not allowed to administer the team",
    permission: "administer",
  });
  await ada.request("DELETE", members);
  t.equal(await lateDelete(service, caller, team), "not-found");
  t.equal((await ada.request("GET", `${base}/teams/${teamId}`)).status, 200);
  await remove(ada, `${base}/workspaces/${workspaceId}`, 1);
  t.equal(await lateDelete(service, caller, team), "not-found");
});

t.test(
  "nothing stands in the change log by a token after its end, however many of its writes were on their way",
  async (t) => {
    const service = await startTestService(t);
    const ada = await service.signIn("ada@example.com");
    const { workspaceId } = await workspaceWithTeam(ada);
    const secrets = `${base}/workspaces/${workspaceId}/secrets`;
    for (const round of [1, 2, 3]) {
      const robot = await bearer(service, ada, { workspaceId, name: `robot-${round}`, scopes: ["read", "secrets"] });
      const write = (n: number) => {
        const name = `secret-${round}-${n}`;
        return createUnder(robot, secrets, { name, value: "v", valueVersion: 1 }, name);
      };
      const before = Array.from({ length: 10 }, (_, n) => write(n));
      const revoked = remove(ada, `${base}/tokens/${robot.tokenId}`, 1);
      const answers = await Promise.all([...before, ...Array.from({ length: 20 }, (_, n) => write(n + 10))]);
      t.equal((await revoked).status, 204);
      t.same(
        new Set(answers.map(({ status }) => status).filter((status) => status !== 201 && status !== 401)),
        new Set(),
      );
      const log = await ada.request("GET", "/api/workspaces/acme/configuration-changes?limit=50");
      const changes = listItems(log) as readonly {
        seq: number;
        resourceId: string;
        action: string;
        by: { tokenId: string };
      }[];
      const end =
        changes.find(({ resourceId, action }) => resourceId === robot.tokenId && action === "deleted")?.seq ?? 0;
      t.ok(end > 0);
      t.same(
        changes.filter(({ seq, by }) => by.tokenId === robot.tokenId && seq > end),
        [],
      );
    }
  },
);
