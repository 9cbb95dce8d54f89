import t from "tap";
import { Canaries } from "../support/canaries.js";
import { ManualClock } from "../support/manual-clock.js";
import { bearer, createUnder, remove, toSlug, workspaceWithTeam } from "../support/resources.js";
import { startTestService } from "../support/service.js";

/** Tests the states and transitions of a workspace token (configuration API). */

const base = "/api/resources";

t.test("a token is refused from the first request after it was revoked or expired", async (t) => {
  const clock = new ManualClock();
  const service = await startTestService(t, { clock });
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const workspace = `${base}/workspaces/${workspaceId}`;
  const expiresAt = new Date(clock.now() + 60_000).toISOString();
  const brief = await bearer(service, ada, { workspaceId, name: "brief", scopes: ["read"], expiresAt });
  const lasting = await bearer(service, ada, { workspaceId, name: "lasting", scopes: ["read"] });

  clock.advance(59_999);
  t.equal((await brief.request("GET", workspace)).status, 200);
  clock.advance(1);
  const expired = await brief.request("GET", workspace);
  t.same([expired.status, toSlug(expired)], [401, "unauthenticated"]);

  const one = `${base}/tokens/${lasting.tokenId}`;
  t.equal((await ada.request("DELETE", one)).status, 428, "a revocation is based on a version");
  t.equal((await lasting.request("GET", workspace)).status, 200);
  t.equal((await remove(ada, one, 1)).status, 204);
  const revoked = await lasting.request("GET", workspace);
  t.same([revoked.status, toSlug(revoked)], [401, "unauthenticated"]);
  t.equal((await ada.request("GET", one)).status, 404);
  const again = await createUnder(ada, `${workspace}/tokens`, { name: "lasting", scopes: ["read"] }, "anew");
  t.equal(again.status, 201, "its name is free again");
});

t.test("a token's value is neither stored nor in any later answer", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId } = await workspaceWithTeam(ada);
  const tokens = `${base}/workspaces/${workspaceId}/tokens`;
  const made = await createUnder(ada, tokens, { name: "robot", scopes: ["read"] }, "once");
  const value = made.headers["service-workspace-token"] ?? "";
  t.equal(Buffer.from(value, "base64url").length, 32);
  for (const path of [tokens, `${base}/tokens/${made.body?.id}`, `${tokens}/import?address=robot`]) {
    const { text, headers } = await ada.request("GET", path);
    t.notOk((text + JSON.stringify(headers)).includes(value), path);
  }
  await service.stop();
  const canaries = new Canaries();
  canaries.add("token", value);
  await canaries.sawFiles(service.folder, "ada@example.com");
  t.same(canaries.sightings(), []);
});
