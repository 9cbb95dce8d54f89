import t from "tap";
import { CLAIM_PENDING_MS } from "../../../actors/tables/claims.js";
import {
  findWorkspaceBySlug,
  type SlugClaimed,
  slugClaimsActor,
  slugClaimsRef,
} from "../../../actors/workspaces/slug-claims.machine.js";
import type { Message, Woken } from "../../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../../storage/keys.js";
import { type Stepping, stepByHand, type TurnTaken } from "../../support/turn.js";

const SLUG = "acme";
const OURS = "ws_1";
const THEIRS = "ws_2";

const claim = (workspaceId: string, key: string, more: { slug?: string; digest?: string } = {}) =>
  ({
    type: "slug.claim",
    slug: more.slug ?? SLUG,
    workspaceId,
    idempotency: { scope: "usr_1 workspace ", key, digest: more.digest ?? "d" },
  }) as Message;
const about = (type: string, workspaceId = OURS) => ({ type, name: [SLUG], workspaceId }) as Message;
const lapse = (untilMs: number, workspaceId = OURS) =>
  ({ type: "name.lapse", name: [SLUG], workspaceId, untilMs }) as Message;
const woken: Woken = { type: "woken", name: JSON.stringify([SLUG]), dueMs: 0 };

const free = (): Stepping => stepByHand(slugClaimsActor, slugClaimsRef);
function pending(): Stepping {
  const stepping = free();
  stepping.take(claim(OURS, "k"));
  return stepping;
}
function confirmed(): Stepping {
  const stepping = pending();
  stepping.take(about("name.confirm"));
  return stepping;
}
const states = { free, pending, confirmed };

const ROW = [GLOBAL_PARTITION, "row", "workspace-slug", SLUG];
interface Row {
  readonly workspaceId: string;
  readonly pending?: { readonly untilMs: number };
}

/** Returns the claim in its row: `free`, or the workspace and whether the claim is still pending. */
function standing({ rows }: Stepping): string {
  const row = rows.get<Row>(ROW);
  return row === undefined ? "free" : `${row.workspaceId} ${row.pending === undefined ? "confirmed" : "pending"}`;
}

/**
 * Returns the answer to the sender: the refusal or the workspace. If the answer has neither, lists the sent messages.
 */
function told({ answer, sent }: TurnTaken): string {
  const { refused, workspaceId } = (answer ?? {}) as { refused?: string } & Partial<SlugClaimed>;
  return refused ?? workspaceId ?? sent.map(({ to, message }) => `${message.type} to ${to.id}`).join();
}

const untilMs = ({ rows }: Stepping) => rows.get<Row>(ROW)?.pending?.untilMs ?? 0;

const messages: Readonly<Record<string, (stepping: Stepping) => Message>> = {
  "claim by us, the same key": () => claim(OURS, "k"),
  "claim by us, the same key, as another workspace": () => claim("ws_9", "k"),
  "claim by us, another body": () => claim(OURS, "k", { digest: "other" }),
  "claim by us, another key": () => claim("ws_9", "other"),
  "claim by them": () => claim(THEIRS, "theirs"),
  confirm: () => about("name.confirm"),
  release: () => about("name.release"),
  "release by them": () => about("name.release", THEIRS),
  "lapse as asked": (stepping) => lapse(untilMs(stepping)),
  "lapse as asked before": (stepping) => lapse(untilMs(stepping) - 1),
  "lapse by them": (stepping) => lapse(untilMs(stepping), THEIRS),
  woken: () => woken,
};

const kept = { "release by them": "same", "lapse by them": "same", "lapse as asked before": "same" };

/**
 * State x message -> the claim after the message (`same` if it does not change), and the answer. If there is no answer,
 * the sent messages instead.
 */
const table: Readonly<Record<keyof typeof states, Readonly<Record<string, string>>>> = {
  free: {
    "claim by us, the same key": "ws_1 pending ws_1",
    "claim by us, the same key, as another workspace": "ws_9 pending ws_9",
    "claim by us, another body": "ws_1 pending ws_1",
    "claim by us, another key": "ws_9 pending ws_9",
    "claim by them": "ws_2 pending ws_2",
    confirm: "throws",
    ...kept,
    release: "same",
    "lapse as asked": "same",
    woken: "same",
  },
  pending: {
    "claim by us, the same key": "same ws_1",
    "claim by us, the same key, as another workspace": "same ws_1",
    "claim by us, another body": "same idempotency-key-reused",
    "claim by us, another key": "same already-exists",
    "claim by them": "same already-exists",
    confirm: "ws_1 confirmed",
    ...kept,
    release: "free",
    "lapse as asked": "free",
    woken: "same name.ask to ws_1",
  },
  confirmed: {
    "claim by us, the same key": "same ws_1",
    "claim by us, the same key, as another workspace": "same ws_1",
    "claim by us, another body": "same idempotency-key-reused",
    "claim by us, another key": "same already-exists",
    "claim by them": "same already-exists",
    confirm: "same",
    ...kept,
    release: "free",
    "lapse as asked": "same",
    woken: "same",
  },
};

t.test("in every state of a claim, each message does what the table says", async (t) => {
  for (const [state, make] of Object.entries(states)) {
    const wanted = table[state as keyof typeof states];
    t.same(Object.keys(wanted).sort(), Object.keys(messages).sort());
    for (const [name, message] of Object.entries(messages)) {
      const stepping = make();
      const before = standing(stepping);
      let ended: string;
      try {
        const taken = stepping.take(message(stepping));
        ended = `${standing(stepping)} ${told(taken)}`.trim();
      } catch {
        ended = "throws";
      }
      t.equal(ended, wanted[name]?.replace("same", before), `${state}, ${name}`);
    }
  }
});

t.test("a claim is checked after a minute, and each minute again; a repeat restarts the minute", async (t) => {
  const stepping = free();
  const first = stepping.take(claim(OURS, "k"));
  const wakeUp = first.wakes.find(({ name }) => name === woken.name);
  t.equal(CLAIM_PENDING_MS, 60_000);
  t.equal(wakeUp?.dueMs, stepping.now + CLAIM_PENDING_MS);
  stepping.now += 30_000;
  const again = stepping.take(claim("ws_9", "k"));
  t.equal(again.wakes.find(({ name }) => name === woken.name)?.dueMs, stepping.now + CLAIM_PENDING_MS);
  const { openBeforeMs } = again.answer as SlugClaimed;
  t.ok(openBeforeMs > stepping.now && openBeforeMs < untilMs(stepping), "it is opened well before it may lapse");
  stepping.now += CLAIM_PENDING_MS;
  t.match(stepping.take(woken), { wakes: [{ dueMs: stepping.now + CLAIM_PENDING_MS }], sent: [{ to: { id: OURS } }] });
  t.same(stepping.take(about("name.confirm")).cancelledWakes, [woken.name]);
});

t.test("an answer from before a repeat does not affect the claim", async (t) => {
  const stepping = pending();
  const asked = untilMs(stepping);
  stepping.now = asked;
  stepping.take(woken);
  stepping.take(claim(OURS, "k"));
  stepping.take(lapse(asked));
  t.equal(standing(stepping), "ws_1 pending");
});

t.test("a lapsed or released claim removes its key; a confirmed one keeps it for a day", async (t) => {
  for (const end of [lapse, () => about("name.release")]) {
    const stepping = pending();
    stepping.take(end(untilMs(stepping)));
    t.equal(told(stepping.take(claim(THEIRS, "k"))), THEIRS, "the key makes another");
  }
  const stepping = confirmed();
  t.equal(told(stepping.take(claim(THEIRS, "k"))), OURS);
  stepping.now += 24 * 60 * 60 * 1_000 + 1;
  t.equal(told(stepping.take(claim(THEIRS, "k"))), "already-exists");
  const sweep: Woken = { ...woken, name: "sweep" };
  stepping.take(sweep);
  t.equal(stepping.rows.range({ prefix: [GLOBAL_PARTITION, "row", "idempotency"] }).length, 0);
});

t.test("the workspace of a slug is found as soon as it is claimed", async (t) => {
  t.equal(findWorkspaceBySlug(free().rows, SLUG), undefined);
  t.equal(findWorkspaceBySlug(pending().rows, SLUG), OURS);
  t.equal(findWorkspaceBySlug(confirmed().rows, SLUG), OURS);
});

t.test("a slug taken by a release without claims stays taken", async (t) => {
  const stepping = free();
  stepping.rows.put(ROW, { workspaceId: OURS });
  t.equal(told(stepping.take(claim(THEIRS, "k"))), "already-exists");
  t.equal(findWorkspaceBySlug(stepping.rows, SLUG), OURS);
});
