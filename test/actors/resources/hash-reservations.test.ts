import t from "tap";
import { createActorTypes, createKinds } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { isRefusal, type Refusal } from "../../../actors/refusal.js";
import {
  hashReservationsActor,
  hashReservationsRef,
  RESERVED_MS,
} from "../../../actors/resources/hash-reservations.machine.js";
import { withReservedHashes } from "../../../actors/resources/reserve-hashes.js";
import type { ReservedHashes, WriteResult } from "../../../actors/resources/resource.messages.js";
import { findResourceByHash, hashEntry } from "../../../actors/resources/resource-hash.table.js";
import { openWorkspace } from "../../../actors/workspaces/open-workspace.js";
import { workspaceRef } from "../../../actors/workspaces/workspace.messages.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { Harness, settled } from "../../support/harness.js";
import { stepByHand } from "../../support/turn.js";

const reserve = (workspaceId: string, hash = "h") =>
  ({ type: "hash.reserve", kind: "runner-pool", hash, workspaceId }) as Message;

t.test("a hash that another workspace keeps or has reserved is refused, for a minute", async (t) => {
  const stepping = stepByHand(hashReservationsActor, hashReservationsRef);
  const first = stepping.take(reserve("ws_1"));
  t.match(first.wakes, [{ dueMs: stepping.now + RESERVED_MS }]);
  const { beforeMs } = first.answer as { beforeMs: number };
  t.ok(beforeMs > stepping.now && beforeMs < stepping.now + RESERVED_MS);
  t.equal(stepping.take(reserve("ws_2")).answer, null);
  t.ok(stepping.take(reserve("ws_2", "another")).answer);
  t.ok(stepping.take(reserve("ws_1")).answer, "its own again");
  stepping.take({ type: "woken", name: first.wakes[0]?.name, dueMs: 0 } as Message);
  t.ok(stepping.take(reserve("ws_2")).answer, "a minute later it is free");
  stepping.rows.direct(hashEntry("runner-pool", "kept", { workspaceId: "ws_1", id: "pool_1" }));
  t.equal(stepping.take(reserve("ws_2", "kept")).answer, null);
  t.ok(stepping.take(reserve("ws_1", "kept")).answer);
});

t.test(
  "a reservation ends with the last write that has it, and late ends of earlier ones change nothing",
  async (t) => {
    const stepping = stepByHand(hashReservationsActor, hashReservationsRef);
    const beforeMs = () => (stepping.take(reserve("ws_1")).answer as { beforeMs: number }).beforeMs;
    const release = (workspaceId: string, before: number) =>
      stepping.take({ type: "hash.release", kind: "runner-pool", hash: "h", workspaceId, beforeMs: before } as Message);
    const [first, second] = [beforeMs(), beforeMs()];
    release("ws_2", first);
    release("ws_1", first);
    t.equal(stepping.take(reserve("ws_2")).answer, null, "the other write has it still");
    t.match(release("ws_1", second).cancelledWakes.length, 1);
    t.ok(stepping.take(reserve("ws_2")).answer, "it is free at once");
    release("ws_1", second);
    t.equal(stepping.take(reserve("ws_1")).answer, null);
    stepping.now += RESERVED_MS;
    stepping.take({ type: "woken", name: JSON.stringify(["runner-pool", "h"]), dueMs: 0 } as Message);
    const third = beforeMs();
    release("ws_1", first);
    t.equal(stepping.take(reserve("ws_2")).answer, null, "an end that comes after its time");
    release("ws_1", third);
    t.ok(stepping.take(reserve("ws_2")).answer);
  },
);

t.test("an owner that no longer has the hash does not count, its reservation does", async (t) => {
  const stepping = stepByHand(hashReservationsActor, hashReservationsRef);
  const formerOwner = { workspaceId: "ws_1", id: "pool_1" };
  stepping.rows.direct(hashEntry("runner-pool", "h", formerOwner));
  const knowing = (workspaceId: string, id: string) =>
    ({ ...reserve(workspaceId), formerOwner: { ...formerOwner, id } }) as Message;
  t.equal(stepping.take(knowing("ws_2", "pool_2")).answer, null, "the directory has named another since");
  t.ok(stepping.take(knowing("ws_2", "pool_1")).answer);
  t.equal(stepping.take(knowing("ws_3", "pool_1")).answer, null);
});

const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
const caller = { kind: "person", userId: "usr_1", email: "ada@example.com", sessionId: "ses_1" } as const;
const pool = kinds.find(({ name }) => name === "runner-pool");

/** Opens two workspaces. */
async function twoWorkspaces() {
  const harness = new Harness({ catalogue: { actors: createActorTypes(kinds) } });
  await harness.start();
  const open = async (slug: string): Promise<string> => {
    const asked = settled(
      openWorkspace(harness.runtime, {
        kind: "workspace",
        caller,
        client: null,
        teamId: null,
        hidden: {},
        fields: { slug, name: "Acme" },
        idempotency: { scope: "s", key: slug, digest: "d" },
      }),
    );
    await harness.advance(2_000);
    const opened = await asked;
    const made = "value" in opened ? (opened.value as WriteResult | Refusal) : null;
    if (made === null || isRefusal(made)) throw new Error("no workspace");
    return made.resource.id;
  };
  return { harness, ours: await open("ours"), theirs: await open("theirs") };
}

/** Creates a pool with a token, as the HTTP layer does. */
async function create({ runtime }: Harness, workspaceId: string, key: string, hash: string) {
  const hidden = { token: hash };
  if (pool === undefined) throw new Error("no kind runner-pool");
  const of = { kind: pool, hidden, holder: { workspaceId, id: null } };
  return withReservedHashes(runtime, of, (reserved) => send(runtime, workspaceId, { key, hidden, reserved }));
}

function send(
  runtime: Harness["runtime"],
  workspaceId: string,
  { key, hidden, reserved }: { key: string; hidden: { token: string }; reserved: ReservedHashes | undefined },
) {
  const asked: Promise<unknown> = runtime.ask(workspaceRef(workspaceId), {
    type: "resource.create",
    kind: "runner-pool",
    caller,
    client: null,
    teamId: null,
    hidden,
    reserved,
    fields: pool?.schema.parse({ key }),
    idempotency: { scope: "s", key, digest: "d" },
  });
  return asked as Promise<WriteResult | Refusal>;
}

t.test("of pools that are given the same token at once, in two workspaces or in one, one gets it", async (t) => {
  const { harness, ours, theirs } = await twoWorkspaces();
  const wanted = Array.from({ length: 100 }, (_, n) => {
    const hash = n.toString(16).padStart(64, "0");
    const other = n % 2 === 0 ? theirs : ours;
    return { hash, both: Promise.all([create(harness, ours, `a${n}`, hash), create(harness, other, `b${n}`, hash)]) };
  });
  await harness.advance(30_000);
  for (const { hash, both } of wanted) {
    const outcomes = await both;
    const kept = outcomes.flatMap((made) => (isRefusal(made) ? [] : [made.resource.id]));
    const refused = outcomes.filter(isRefusal);
    const isRight = kept.length === 1 && findResourceByHash(harness.durable, "runner-pool", hash)?.id === kept[0];
    if (!isRight) t.fail(`${hash}: ${kept.length} keep it`);
    t.match(refused, [{ refused: "invalid", errors: [{ path: "token", message: "is already used by another pool" }] }]);
  }
  await harness.advance(5 * 60_000);
  t.equal(harness.durable.range({ prefix: ["~", "row", "hash-reservation"] }).length, 0);
  t.same(harness.logged, []);
});

t.test("a write whose reservation has expired in its turn stores nothing", async (t) => {
  const { harness, ours } = await twoWorkspaces();
  const reserved = { taken: [], beforeMs: harness.world.nowMs };
  const late = settled(send(harness.runtime, ours, { key: "late", hidden: { token: "h" }, reserved }));
  await harness.advance();
  t.match(await late, { value: { refused: "conflict", detail: /try again/ } });
  t.equal(findResourceByHash(harness.durable, "runner-pool", "h"), undefined);
});
