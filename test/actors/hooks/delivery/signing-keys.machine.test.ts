import { generateKeyPairSync } from "node:crypto";
import t from "tap";
import { createHookTokenSigner, HOOK_TOKEN_SECONDS } from "../../../../actors/hooks/delivery/hook-token.js";
import {
  listPublishedKeys,
  signingKeysActor,
  signingKeysRef,
  type UseKey,
} from "../../../../actors/hooks/delivery/signing-keys.machine.js";
import type { Woken } from "../../../../runtime/turns/turn.js";
import { memoryRows, stepByHand } from "../../../support/turn.js";

const toKey = () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return createHookTokenSigner(JSON.stringify(privateKey.export({ format: "jwk" }))).publicKey;
};

const use = (key: UseKey["key"]): UseKey => ({ type: "keys.use", key });

t.test("a replaced key stays published until all tokens that it signed have expired", async (t) => {
  const rows = memoryRows();
  const keys = stepByHand(signingKeysActor, signingKeysRef, { rows, now: 0 });
  const [first, second] = [toKey(), toKey()];
  const published = (nowMs: number) =>
    listPublishedKeys(rows, nowMs)
      .map(({ kid }) => kid)
      .sort();
  keys.take(use(first));
  t.same(published(0), [first.kid]);
  t.same(keys.take(use(first)).wakes, [], "used again, it is the same key");

  const [wake] = keys.take(use(second)).wakes;
  t.same(published(0), [first.kid, second.kid].sort());
  t.same(published(HOOK_TOKEN_SECONDS * 1_000), [first.kid, second.kid].sort(), "the last token is over just now");
  t.ok((wake?.dueMs ?? 0) > HOOK_TOKEN_SECONDS * 1_000);
  t.same(published(wake?.dueMs ?? 0), [second.kid], "no longer than that, even before it is removed");
  keys.now = wake?.dueMs ?? 0;
  const woken: Woken = { type: "woken", name: wake?.name ?? "", dueMs: keys.now };
  keys.take(woken);
  t.same(
    listPublishedKeys(rows, 0).map(({ kid }) => kid),
    [second.kid],
    "it is gone",
  );
});

t.test("a key that is used again stays published", async (t) => {
  const rows = memoryRows();
  const keys = stepByHand(signingKeysActor, signingKeysRef, { rows, now: 0 });
  const [first, second] = [toKey(), toKey()];
  keys.take(use(first));
  keys.take(use(second));
  t.same(keys.take(use(first)).cancelledWakes, [first.kid]);
  t.same(
    listPublishedKeys(rows, 1e9).map(({ kid }) => kid),
    [first.kid],
  );
  keys.take(use(null));
  t.same(listPublishedKeys(rows, 1e9), [], "without a key in use none is published for ever");
});
