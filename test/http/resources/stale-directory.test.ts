import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import t, { type Test } from "tap";
import { mintedHashes } from "../../../actors/access/tokens/minted-credential.table.js";
import { createKinds } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { hashEntry } from "../../../actors/resources/resource-hash.table.js";
import { locationEntry } from "../../../actors/resources/resource-location.table.js";
import { connectedRunnerEntry } from "../../../actors/runners/runner.table.js";
import { sha256Hex } from "../../../actors/sealer.js";
import { memberships } from "../../../actors/workspaces/member.table.js";
import { markDisconnected } from "../../../http/runners/mark-disconnected.js";
import { type DirectoryEntry, directoryKey } from "../../../runtime/directories/directory.js";
import { openLmdbStore } from "../../../storage/lmdb-store.js";
import type { Change } from "../../../storage/store.js";
import { join, personAt } from "../../support/people.js";
import { bearer, listItems, remove, workspaceWithTeam } from "../../support/resources.js";
import { toTables } from "../../support/route-table.js";
import { startTestService } from "../../support/service.js";

/** Opens a service with a workspace of Ada, and with directory entries that match no rows. */
async function misled(t: Test, entries: (workspaceId: string) => DirectoryEntry[]) {
  const folder = await mkdtemp(joinPath(tmpdir(), "signalbox-stale-"));
  const store = await openLmdbStore({ folder });
  t.teardown(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });
  const service = await startTestService(t, { store, folder });
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const say = async (more: readonly DirectoryEntry[]) => {
    const changes = more.map((entry): Change => ({ op: "put", key: directoryKey(entry), value: entry.row }));
    await store.commit(changes);
    service.runtime.applied(changes);
  };
  await say(entries(workspaceId));
  return { service, ada, workspaceId, teamId, say };
}

const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
const located = [...kinds.map(({ name }) => name), "task", "run"];

t.test("an id that a directory alone knows is not there, whichever read asks for it", async (t) => {
  const { service, ada } = await misled(t, (workspaceId) =>
    located.map((kind) => locationEntry(`stale_${kind}`, { workspaceId, kind })),
  );
  // Whether a route requires a pool's token, which only runners have.
  const isRunners = (credential: string | undefined) => credential === "pool";
  const reads = toTables(service).routes.filter(
    // Test only routes under `/api`. Pages read no rows, so each page is the same for every id.
    ({ method, path, credential }) =>
      method === "GET" && /^\/api\/.*\{(\w*I|i)d\}/.test(path) && !isRunners(credential),
  );
  t.ok(reads.length > 20);
  for (const { path } of reads) {
    for (const kind of located) {
      const asked = path.replace("{slug}", "acme").replaceAll(/\{(\w*I|i)d\}/g, `stale_${kind}`);
      const { status } = await ada.request("GET", asked.replaceAll(/\{\w+\}/g, "work"));
      t.ok([404, 400].includes(status), `${asked} answers ${status}`);
    }
  }
});

t.test("a hash in the directory admits only to the resource that has it", async (t) => {
  const { service, ada, workspaceId, say } = await misled(t, () => []);
  const { tokenId } = await bearer(service, ada, { workspaceId, name: "ci", scopes: ["read"] });
  await say([
    hashEntry("workspace-token", sha256Hex("guess"), { workspaceId, id: tokenId }),
    mintedHashes.entry(sha256Hex("other"), { workspaceId, trustId: "trust_1", id: "tok_1" }),
  ]);
  for (const token of ["guess", "other"]) {
    t.equal((await service.withToken(token).request("GET", "/api/resources/workspaces")).status, 401);
  }
});

t.test("a membership that its workspace does not know lists nothing", async (t) => {
  const { service, ada, say } = await misled(t, () => []);
  const bob = await join(service, ada, "bob@example.com");
  const closed = await ada.create("/api/resources/workspaces", { slug: "closed", name: "Closed" });
  await remove(ada, `/api/resources/workspaces/${closed.id}`, 1);
  await say([
    memberships.entry([bob.userId, closed.id], { workspaceId: closed.id }),
    memberships.entry([bob.userId, "ws_of_nobody"], { workspaceId: "ws_of_nobody" }),
  ]);
  t.equal(listItems(await bob.request("GET", "/api/resources/workspaces")).length, 1);
});

t.test("a runner that is not there holds up no start", async (t) => {
  const { service } = await misled(t, (workspaceId) => [connectedRunnerEntry(workspaceId, "runner_of_nobody")]);
  await markDisconnected(service.runtime);
});
