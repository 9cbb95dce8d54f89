import t from "tap";
import { oauthStateActor } from "../../../../actors/access/oauth-states/oauth-state.machine.js";
import { address } from "../../../../runtime/cells/address.js";
import type { Message } from "../../../../runtime/turns/turn.js";
import { type Stepping, stepByHand } from "../../../support/turn.js";

const MINUTE_MS = 60_000;
const terms = { purpose: "integration", subject: { integrationId: "int_1" }, sealed: "v1.sealed" } as const;

const links = (): Stepping => stepByHand(oauthStateActor, address("~", "link", "usr_ada"));
const begin = (stateHash: string, sessionId = "ses_1") =>
  ({ type: "link.begin", stateHash, sessionId, ...terms }) as Message;
const use = (stateHash: string, of: { readonly sessionId?: string; readonly purpose?: string } = {}) =>
  ({ type: "link.use", stateHash, sessionId: "ses_1", purpose: "integration", ...of }) as Message;
const woken = { type: "woken", name: "expire", dueMs: 0 } as Message;
const refused = { refused: "conflict" };

t.test("a state is used once, and its actor ends with the last state", async (t) => {
  const actor = links();
  const begun = actor.take(begin("one"));
  t.same(begun.answer, { expiresAtMs: actor.now + 10 * MINUTE_MS });
  t.same(begun.wakes, [{ name: "expire", dueMs: actor.now + 10 * MINUTE_MS }]);
  t.equal(actor.value, "waiting");
  actor.take(begin("two"));
  const used = actor.take(use("one"));
  t.same([used.answer, used.stopped], [terms, false]);
  t.match(actor.take(use("one")).answer, refused, "a second time");
  const last = actor.take(use("two"));
  t.same([last.answer, last.stopped, actor.value], [terms, true, "none"]);
});

t.test(
  "a state is refused in another session, for another purpose, when unknown, and after its lifetime",
  async (t) => {
    const actor = links();
    const strange = actor.take(use("none"));
    t.match([strange.answer, strange.stopped], [refused, true]);
    actor.take(begin("one"));
    t.match(actor.take(use("one", { sessionId: "ses_2" })).answer, refused);
    t.match(actor.take(use("one", { purpose: "code-host" })).answer, refused);
    t.match(actor.take(use("two")).answer, refused);
    actor.now += 10 * MINUTE_MS - 1;
    actor.take(begin("late"));
    actor.now += 1;
    t.match(actor.take(use("one")).answer, refused);
    t.same(actor.take(use("late")).answer, terms, "who guesses uses nothing up");
  },
);

t.test("expired states are removed, and the number of states is limited", async (t) => {
  const actor = links();
  const begunMs = actor.now;
  actor.take(begin("first"));
  actor.now += MINUTE_MS;
  actor.take(begin("second"));
  actor.now = begunMs + 10 * MINUTE_MS;
  const swept = actor.take(woken);
  t.same([swept.wakes, swept.stopped], [[{ name: "expire", dueMs: begunMs + 11 * MINUTE_MS }], false]);
  for (let index = 0; index < 20; index++) actor.take(begin(`more-${index}`));
  t.match(actor.take(use("second")).answer, refused, "the oldest of more than twenty is gone");
  t.same(actor.take(use("more-0")).answer, terms);
  actor.now += 10 * MINUTE_MS;
  const last = actor.take(woken);
  t.same([last.stopped, actor.value], [true, "none"]);
});
