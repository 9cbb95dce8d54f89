import t from "tap";
import { findLiveCredential } from "../../../../actors/access/tokens/minted-credential.table.js";
import { tokenMinting } from "../../../../actors/access/tokens/token-exchange.js";
import { findTokenCaller } from "../../../../actors/access/tokens/workspace-token.queries.js";
import { trustActor } from "../../../../actors/access/trusts/trust.machine.js";
import { listLatestRefusals } from "../../../../actors/access/trusts/trust.queries.js";
import { listChangeRecords } from "../../../../actors/resources/change-record.queries.js";
import { type ResourceRow, resources } from "../../../../actors/resources/resource.table.js";
import { address } from "../../../../runtime/cells/address.js";
import type { Message } from "../../../../runtime/turns/turn.js";
import { type Stepping, stepByHand } from "../../../support/turn.js";

const workspaceId = "ws_1";
const trustId = "trust_1";
const MINUTE_MS = 60_000;

function toRow(kind: string, id: string, of: Partial<ResourceRow> = {}): ResourceRow {
  const at = new Date(0).toISOString();
  const common = { version: 1, workspaceId, teamId: null, address: id, fields: {}, hidden: {}, added: {} };
  return { id, kind, ...common, createdAt: at, updatedAt: at, ...of };
}

/** Returns a trust in an open workspace, with tokens that are valid for ten minutes. */
function trust(): Stepping {
  const actor = stepByHand(trustActor(tokenMinting), address(workspaceId, "token-trust", trustId));
  resources.put(actor.rows, workspaceId, ["workspace", workspaceId], toRow("workspace", workspaceId));
  writeTrust(actor, 1);
  return actor;
}

function writeTrust({ rows }: Stepping, version: number): void {
  const fields = { key: "ci", scopes: ["plan"], lifetimeMinutes: 10 };
  const row = toRow("workspace-token-trust", trustId, { version, fields, added: { definedBy: "usr_ada" } });
  resources.put(rows, workspaceId, [row.kind, trustId], row);
}

const mint = (hash: string, trustVersion = 1): Message =>
  ({ type: "trust.mint", trustVersion, subject: "repo:acme/app:x", hashes: [hash], client: "web" }) as Message;
const refuse = (came: string): Message =>
  ({ type: "trust.refuse", check: "aud", wanted: "service", came, verified: true }) as Message;
const woken = { type: "woken", name: "sweep", dueMs: 0 } as Message;
const came = (actor: Stepping) =>
  listLatestRefusals(actor.rows, { workspaceId, id: trustId }).map((refusal) => refusal.came);

t.test("every message is handled, as in the table", async (t) => {
  const actor = trust();
  const minted = actor.take(mint("one"));
  t.match(minted.answer, { minted: true, ids: [/^tok_/], expiresAtMs: actor.now + 10 * MINUTE_MS });
  t.match(findTokenCaller(actor.rows, "one", actor.now), {
    workspaceId,
    scopes: ["plan"],
    issuedBy: "usr_ada",
    trust: trustId,
  });
  t.equal(listChangeRecords(actor.rows, workspaceId, { limit: 9 }).length, 1);
  t.same(actor.take(mint("two", 2)).answer, {
    minted: false,
    check: "trust",
    wanted: "the trust at version 2",
    came: "version 1",
    verified: true,
  });
  t.equal(findTokenCaller(actor.rows, "two", actor.now), null);
  t.ok(actor.take(refuse("elsewhere")).taken);
  t.same(came(actor), ["elsewhere"]);
  t.ok(actor.take(woken).taken);
  t.ok(findTokenCaller(actor.rows, "one", actor.now), "what lasts is not swept");
  t.equal(actor.value, "serving");
});

t.test("a credential is valid until its end, while its trust is unchanged and its workspace open", async (t) => {
  const actor = trust();
  const endMs = actor.now + 10 * MINUTE_MS;
  actor.take(mint("one"));
  t.ok(findLiveCredential(actor.rows, "one", endMs - 1));
  t.equal(findLiveCredential(actor.rows, "one", endMs), null);
  t.equal(findLiveCredential(actor.rows, "another", endMs - 1), null);
  writeTrust(actor, 2);
  t.equal(findLiveCredential(actor.rows, "one", actor.now), null);
  actor.take(mint("two", 2));
  t.ok(findLiveCredential(actor.rows, "two", actor.now));
  resources.remove(actor.rows, workspaceId, "workspace", workspaceId);
  t.equal(findLiveCredential(actor.rows, "two", actor.now), null);
  t.match(actor.take(mint("three", 2)).answer, { minted: false, check: "trust", came: "it was deleted" });
});

t.test("it is woken when the first credential ends, at most once a minute, and ends with its trust", async (t) => {
  const actor = trust();
  const begunMs = actor.now;
  t.same(actor.take(mint("one")).wakes, [{ name: "sweep", dueMs: begunMs + 10 * MINUTE_MS }]);
  actor.now += 1_000;
  t.same(actor.take(mint("two")).wakes, [], "one is set already");
  t.same(actor.take(refuse("elsewhere")).wakes, []);
  actor.now = begunMs + 10 * MINUTE_MS;
  t.same(actor.take(woken).wakes, [{ name: "sweep", dueMs: begunMs + 11 * MINUTE_MS }]);
  resources.remove(actor.rows, workspaceId, "workspace-token-trust", trustId);
  actor.now += MINUTE_MS;
  const last = actor.take(woken);
  t.same([last.wakes, last.stopped], [[], true]);
  t.same(actor.rows.range({ prefix: [workspaceId, "row", "minted-credential"] }), []);
  t.same(came(actor), []);
});

t.test("a sooner end brings the sweep forward, and many are swept in slices", async (t) => {
  const actor = trust();
  t.same(actor.take(refuse("elsewhere")).wakes.length, 1);
  t.same(actor.take(mint("first")).wakes, [{ name: "sweep", dueMs: actor.now + 10 * MINUTE_MS }]);
  for (let index = 0; index < 600; index++) actor.take(mint(`hash-${index}`));
  actor.now += 10 * MINUTE_MS;
  const left = () => actor.rows.range({ prefix: [workspaceId, "row", "minted-credential"] }).length;
  t.same(actor.take(woken).wakes, [{ name: "sweep", dueMs: actor.now }], "the rest at once");
  t.equal(left(), 101);
  actor.take(woken);
  t.equal(left(), 0);
});

t.test("one trust has at most 10,000 credentials; expired ones do not count after the sweep", async (t) => {
  const actor = trust();
  const isMinted = (message: Message) => (actor.take(message).answer as { readonly minted: boolean }).minted;
  let minted = 0;
  for (let index = 0; index < 10_000; index++) minted += isMinted(mint(`hash-${index}`)) ? 1 : 0;
  t.equal(minted, 10_000);
  t.match(actor.take(mint("more")).answer, { minted: false, check: "tokens", came: "one more than 10000" });
  t.equal(findTokenCaller(actor.rows, "more", actor.now), null);
  writeTrust(actor, 2);
  t.ok(isMinted(mint("after", 2)), "those of the trust as it was are over");
  actor.now += 10 * MINUTE_MS;
  for (let slice = 0; slice < 21; slice++) actor.take(woken);
  t.same(actor.rows.range({ prefix: [workspaceId, "row", "minted-credential"] }), []);
  t.equal(actor.context<{ readonly kept: number }>().kept, 0);
});

t.test("equal refusals are counted, the latest 20 are stored, and they are removed after a week", async (t) => {
  const actor = trust();
  actor.take(refuse("a"));
  actor.take(refuse("b"));
  actor.take(refuse("a"));
  t.match(listLatestRefusals(actor.rows, { workspaceId, id: trustId }), [
    { came: "a", times: 2 },
    { came: "b", times: 1 },
  ]);
  for (let index = 0; index < 19; index++) actor.take(refuse(`c${index}`));
  t.equal(came(actor).length, 20);
  t.notOk(came(actor).includes("b"), "the one that came longest ago went");
  actor.now += 7 * 24 * 60 * MINUTE_MS;
  actor.take(refuse("late"));
  actor.take(woken);
  t.same(came(actor), ["late"]);
});
