import t from "tap";
import { join, personAt } from "../../support/people.js";
import { createUnder, remove, toSlug } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const WORKSPACES = "/api/resources/workspaces";
const acme = { slug: "acme", name: "Acme" };

t.test("a person who left the workspace that their key opened does not get it again", async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const made = await createUnder(ada, WORKSPACES, acme, "the-key");
  t.equal((await createUnder(ada, WORKSPACES, acme, "the-key")).headers["idempotent-replayed"], "true");
  const bob = await join(service, ada, "bob@example.com");
  await ada.request("PATCH", `/api/workspaces/acme/members/${bob.userId}`, { role: "owner" });
  t.equal((await ada.request("DELETE", `/api/workspaces/acme/members/${ada.userId}`)).status, 204);
  const again = await createUnder(ada, WORKSPACES, acme, "the-key");
  t.equal(toSlug(again), "conflict");
  t.notMatch(again.text, String(made.body?.id));
});

t.test("a workspace that is not opened leaves no actor and no wake-up", async (t) => {
  const { runtime, signIn } = await startTestService(t);
  const ada = await signIn("ada@example.com");
  const made = await createUnder(ada, WORKSPACES, acme, "the-key");
  const { cells, timers } = runtime.stats();
  for (const key of ["one", "two", "three"]) {
    t.equal(toSlug(await createUnder(ada, WORKSPACES, acme, key)), "already-exists");
  }
  t.equal((await createUnder(ada, WORKSPACES, { ...acme, name: "Other" }, "the-key")).status, 422);
  t.equal((await createUnder(ada, WORKSPACES, acme, "the-key")).body?.id, made.body?.id);
  t.match(runtime.stats(), { cells, timers });
  t.equal((await remove(ada, `${WORKSPACES}/${made.body?.id}`, 1)).status, 204);
  t.equal(toSlug(await createUnder(ada, WORKSPACES, acme, "the-key")), "conflict", "its workspace is closed");
});
