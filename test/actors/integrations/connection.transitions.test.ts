import t from "tap";
import { EXCHANGE_EFFECT, REFRESH_EFFECT, REVOKE_EFFECT } from "../../../actors/integrations/oauth.effects.js";
import { resources } from "../../../actors/resources/resource.table.js";
import { putMember, removeMember } from "../../../actors/workspaces/member.table.js";
import {
  ask,
  check,
  connection,
  crashed,
  disconnect,
  ended,
  inState,
  kept,
  link,
  linked,
  listEffects,
  personWith,
  terms,
  WORKSPACE,
  woken,
  writeIntegration,
} from "../../support/connection-stepping.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

t.test("admins link the team's account, people on the team their own", async (t) => {
  const team = connection("team");
  t.match(team.take(link("one")).answer, { refused: "forbidden", permission: "administer" });
  t.match(team.take(ask(["comment"])).answer, { refused: "forbidden" });
  t.same(listEffects(team.take(link("one", "usr_owner"))), [EXCHANGE_EFFECT.name]);
  team.take(ended("one", linked(team)));
  t.match(kept(team, "team"), { state: "connected", connectedBy: "usr_owner", account: "ada@host" });
  removeMember(team.rows, WORKSPACE, personWith("usr_owner", { role: "owner" }));
  team.take(check);
  t.equal(team.value, "connected", "it stays the team's when who connected it leaves");

  const own = connection();
  t.match(own.take(link("one", "usr_owner")).answer, { refused: "forbidden", title: "Not on the team" });
  t.match(own.take(disconnect()).answer, { refused: "conflict" });
  writeIntegration(own, terms, "team");
  t.match(own.take(link("one")).answer, { refused: "conflict" });
  writeIntegration(own, null);
  t.match(own.take(link("one")).answer, { refused: "conflict" });
  resources.remove(own.rows, WORKSPACE, "workspace", WORKSPACE);
  t.match(own.take(link("one")).answer, { refused: "not-found" }, "of a closed workspace");
});

t.test("at most one exchange and one renewal run at a time", async (t) => {
  const actor = connection();
  actor.take(link("one"));
  const second = actor.take(link("two"));
  t.same([second.cancelledEffects, listEffects(second)], [["one"], [EXCHANGE_EFFECT.name]]);
  t.match(second.changes, [{ topic: "connection/int_1:usr_ada", data: { exchangeId: "one", failed: /replaced it/ } }]);
  actor.take(ended("one", linked(actor, { account: "late@host" })));
  t.equal(actor.value, "linking", "what was given up is not heard");
  t.match(actor.take(ended("two", linked(actor))).changes, [{ data: { exchangeId: "two", failed: null } }]);

  const renewal = actor.take(woken).started[0]?.id ?? "";
  t.same(listEffects(actor.take(woken)), [], "woken again meanwhile it asks for nothing more");
  actor.take(link("three"));
  const relinked = actor.take(ended("three", linked(actor, { account: "new@host" })));
  t.same(relinked.cancelledEffects, [renewal]);
  t.match(kept(actor), { state: "connected", account: "new@host" });
});

t.test(
  "access is renewed five minutes before its end, a fifth of a short time before, at most each half minute",
  async (t) => {
    for (const [lastsMs, dueMs] of [
      [HOUR_MS, 55 * MINUTE_MS],
      [10 * MINUTE_MS, 8 * MINUTE_MS],
      [5_000, 30_000],
      [-HOUR_MS, 30_000],
    ] as const) {
      const actor = connection();
      actor.take(link("one"));
      const { wakes } = actor.take(ended("one", linked(actor, { expiresAtMs: actor.now + lastsMs })));
      t.same(wakes, [{ name: "renew", dueMs: actor.now + dueMs }], `of ${lastsMs} ms`);
    }
    const lasting = connection();
    lasting.take(link("one"));
    t.same(
      lasting.take(ended("one", linked(lasting, { expiresAtMs: null }))).wakes,
      [],
      "access without an end is not renewed",
    );
  },
);

t.test("access that cannot be renewed lasts until its end, and must then be connected again", async (t) => {
  const actor = connection();
  actor.take(link("one"));
  const { wakes } = actor.take(ended("one", linked(actor, { canRenew: false })));
  t.same(wakes, [{ name: "renew", dueMs: actor.now + HOUR_MS }]);
  t.same(listEffects(actor.take(woken)), []);
  t.match(kept(actor), {
    state: "broken",
    linked: null,
    account: "ada@host",
    problem: /has expired.*Connect the account again/,
  });
});

t.test("a renewal that fails is tried again for a day, waiting up to an hour", async (t) => {
  const { actor, effectId } = inState("refreshing");
  const begunMs = actor.now;
  let id = effectId;
  const waits: number[] = [];
  while (actor.value === "refreshing") {
    const [wake] = actor.take(crashed(id)).wakes;
    if (wake === undefined) break;
    t.match(kept(actor), { state: "refreshing", problem: /attempt to renew the access token failed/ });
    waits.push(wake.dueMs - actor.now);
    actor.now = wake.dueMs;
    id = actor.take(woken).started[0]?.id ?? "";
  }
  t.same(waits.slice(0, 6), [10_000, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, HOUR_MS]);
  t.match(kept(actor), { state: "broken", problem: /for a day/ });
  t.ok(actor.now - begunMs >= DAY_MS && actor.now - begunMs < DAY_MS + HOUR_MS);
});

t.test("a connection that ends revokes its tokens, also those that an exchange just returned", async (t) => {
  const { actor } = inState("connected");
  actor.take(ask(["comment"]));
  actor.take(link("second"));
  putMember(actor.rows, WORKSPACE, personWith("usr_ada"));
  const gone = actor.take(ended("second", linked(actor, { sealed: "v1.new" })));
  t.match(gone.started, [
    { name: REVOKE_EFFECT.name, input: { sealed: "v1.tokens", terms } },
    { name: REVOKE_EFFECT.name, input: { sealed: "v1.new", terms } },
  ]);
  t.match(gone.changes, [{ data: { exchangeId: "second", failed: /in the meantime/ } }]);
  t.same(gone.cancelledWakes, ["renew"]);
  t.equal(kept(actor), undefined, "what they had set goes too");
  t.notOk(actor.take(ended(gone.started[0]?.id ?? "", null)).stopped, "the other is waited for");
  t.ok(actor.take(ended(gone.started[1]?.id ?? "", null)).stopped);

  const renewing = inState("refreshing");
  const ending = renewing.actor.take(disconnect());
  t.same([ending.cancelledEffects, listEffects(ending)], [[renewing.effectId], [REVOKE_EFFECT.name]]);
  const strange = inState("connected").actor;
  writeIntegration(strange, { ...terms, issuer: "https://other.example" });
  t.same(listEffects(strange.take(check)), [REVOKE_EFFECT.name]);
  t.same(listEffects(inState("connected").actor.take(woken)), [REFRESH_EFFECT.name]);
});

t.test("a person's settings stay when they disconnect, and are removed when they leave", async (t) => {
  const { actor } = inState("connected");
  actor.take(ask(["close", "comment"]));
  actor.take(disconnect());
  t.match(kept(actor), { state: "none", asks: ["close", "comment"], account: null, linked: null });
  putMember(actor.rows, WORKSPACE, personWith("usr_ada"));
  actor.take(check);
  t.equal(kept(actor), undefined);
});
