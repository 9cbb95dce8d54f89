/**
 * Publishes the keys that sign hook tokens, `signing-keys/hooks` in the global partition. The actor publishes the
 * current key, and each earlier key until all tokens signed with that key have expired. There is only one state,
 * because rows store the keys.
 *
 * | state   | moved by    | next    | also                                                             |
 * |---------|-------------|---------|------------------------------------------------------------------|
 * | keeping | keys.use    | keeping | publishes the key; earlier ones stay for a limited time          |
 * | keeping | woken       | keeping | removes expired keys                                             |
 */
import { createChart, type NoContext } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import { reference } from "../../../runtime/cells/reference.js";
import type { Answered, Delivered, Woken } from "../../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../../storage/keys.js";
import type { Reading } from "../../../storage/store.js";
import { table } from "../../../storage/table.js";
import { HOOK_TOKEN_SECONDS, type PublicKey } from "./hook-token.js";

/** Sets the key that signs new tokens; null for none. */
export interface UseKey extends Answered<null> {
  readonly type: "keys.use";
  readonly key: PublicKey | null;
}

interface PublishedKey {
  readonly key: PublicKey;
  /** When the key is removed, in milliseconds since 1970; null for the current key. */
  readonly untilMs: number | null;
}

/** Key: `[kid]`. */
export const published = table<PublishedKey>("hook-signing-key");

const signingKeys = reference<UseKey>("signing-keys");
/** The actor that stores the keys. */
export const signingKeysRef = signingKeys(GLOBAL_PARTITION, "hooks");

/** How long a replaced key stays published, in milliseconds: the lifetime of a token plus the allowed clock skew. */
const RETENTION_MS = (HOOK_TOKEN_SECONDS + 60) * 1_000;

/** Lists the published keys: those whose tokens may still be valid. */
export function listPublishedKeys(reading: Reading, nowMs: number): PublicKey[] {
  return published
    .list(reading, GLOBAL_PARTITION)
    .filter(({ untilMs }) => untilMs === null || untilMs > nowMs)
    .map(({ key }) => key);
}

const { on, machine } = createChart<NoContext, UseKey | Woken>();

const signingKeysMachine = machine({
  id: "signing-keys",
  context: {},
  initial: "keeping",
  states: { keeping: { on: { ...on("keys.use", use), ...on("woken", forget) } } },
});

/** The actor that publishes the signing keys. The file's header has its transitions. */
export const signingKeysActor = defineActor(signingKeys, { machine: signingKeysMachine, version: 1 });

function use({ turn, key }: Delivered<UseKey>): void {
  turn.reply(null);
  const untilMs = turn.now + RETENTION_MS;
  for (const other of published.list(turn, GLOBAL_PARTITION)) {
    if (other.key.kid === key?.kid || other.untilMs !== null) continue;
    published.put(turn, GLOBAL_PARTITION, other.key.kid, { ...other, untilMs });
    turn.wake(other.key.kid, untilMs);
  }
  if (key === null) return;
  published.put(turn, GLOBAL_PARTITION, key.kid, { key, untilMs: null });
  turn.cancelWake(key.kid);
}

function forget({ turn }: Delivered<Woken>): void {
  for (const { key, untilMs } of published.list(turn, GLOBAL_PARTITION)) {
    if (untilMs !== null && untilMs <= turn.now) published.remove(turn, GLOBAL_PARTITION, key.kid);
  }
}
