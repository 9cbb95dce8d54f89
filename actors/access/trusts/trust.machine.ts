/**
 * The actor of a trust, `token-trust/<id>` or `runner-trust/<id>`. It mints and removes the trust's credentials and
 * records its refusals. The trust itself is configuration, which the workspace actor writes. There is only one state.
 *
 * | state   | moved by                                        | next    | also                                      |
 * |---------|-------------------------------------------------|---------|-------------------------------------------|
 * | serving | trust.mint, verified under the current trust    | serving | stores credentials by their hash          |
 * | serving | trust.mint, the trust changed or was deleted    | serving | refused                                   |
 * | serving | trust.mint, at the limit of stored credentials  | serving | refused                                   |
 * | serving | trust.refuse                                    | serving | records the refusal                       |
 * | serving | woken `sweep`                                   | serving | removes expired rows; without trust, all  |
 * | serving | woken `sweep`, no row left                      | (ended) |                                           |
 */
import type { ActorType } from "../../../runtime/cells/actor-type.js";
import { createChart } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import type { Delivered, Turn, Woken } from "../../../runtime/turns/turn.js";
import { findResource, isWorkspaceOpen, type ResourceRow } from "../../resources/resource.table.js";
import { sweepCredentials } from "../tokens/minted-credential.table.js";
import type { MintAnswer, MintCredentials, Minting, RefuseWorkload, TrustMessage } from "./trust.messages.js";
import { REFUSAL_RETENTION_MS, recordRefusal, sweepRefusals } from "./trust-refusal.table.js";

interface TrustContext {
  readonly trustId: string;
  /** When the next sweep is due, in milliseconds since 1970; null if none is scheduled. */
  readonly sweepAtMs: number | null;
  /** Number of stored credentials, including expired ones that are not removed yet. */
  readonly kept: number;
}

/**
 * Minimum time until a sweep for a future expiry, in milliseconds. So one sweep removes all credentials that expire at
 * about the same time.
 */
const SWEEP_EVERY_MS = 60_000;

/** Maximum number of stored credentials per trust, so that one workload can fill only a small part of the store. */
const MAX_CREDENTIALS = 10_000;

const { on, machine } = createChart<TrustContext, TrustMessage | Woken>();

/** See the table above. */
export function trustActor(minting: Minting): ActorType {
  const trustMachine = machine({
    id: minting.actor.kind,
    context: ({ input }) => ({ trustId: input.id, sweepAtMs: null, kept: 0 }),
    initial: "serving",
    states: {
      serving: {
        on: {
          ...on("trust.mint", (event, context) => mint(context, event, minting)),
          ...on("trust.refuse", (event, context) => refuse(context, event, minting)),
          ...on("woken", ({ turn }, context) => sweep(context, turn, minting)),
        },
      },
    },
  });
  return defineActor(minting.actor, { machine: trustMachine, version: 1 });
}

function mint(context: TrustContext, event: Delivered<MintCredentials>, minting: Minting): TrustContext {
  const { turn, trustVersion, hashes } = event;
  const trust = findTrust(turn, minting, context.trustId);
  const no = (check: string, wanted: string, came: string): void => {
    const answer: MintAnswer = { minted: false, check, wanted, came, verified: true };
    turn.reply(answer);
  };
  if (trust?.version !== trustVersion) {
    no(
      "trust",
      `the trust at version ${trustVersion}`,
      trust === undefined ? "it was deleted" : `version ${trust.version}`,
    );
    return context;
  }
  const roomy = context.kept + hashes.length > MAX_CREDENTIALS ? sweep(context, turn, minting) : context;
  if (roomy.kept + hashes.length > MAX_CREDENTIALS) {
    no("tokens", `at most ${MAX_CREDENTIALS} valid tokens`, `one more than ${roomy.kept}`);
    return roomy;
  }
  const minted = minting.mint(trust, event);
  const answer: MintAnswer = { minted: true, ...minted };
  turn.reply(answer);
  return sweepBy({ ...roomy, kept: roomy.kept + minted.ids.length }, turn, minted.expiresAtMs);
}

function refuse(context: TrustContext, event: Delivered<RefuseWorkload>, minting: Minting): TrustContext {
  const { turn } = event;
  if (findTrust(turn, minting, context.trustId) === undefined) return context;
  recordRefusal(turn, context.trustId, event);
  return sweepBy(context, turn, turn.now + REFUSAL_RETENTION_MS);
}

/** Finds the trust. Returns undefined if it was deleted, or if its workspace is closed. */
function findTrust(turn: Turn, { trustKind }: Minting, trustId: string): ResourceRow | undefined {
  const { partition } = turn.self;
  const isOpen = isWorkspaceOpen(turn, partition);
  return isOpen ? findResource(turn, partition, trustKind, trustId) : undefined;
}

/**
 * Removes expired rows, or all rows if the trust was deleted or its workspace is closed. Sets the next wake-up. Stops
 * the actor if no row is left.
 */
function sweep(context: TrustContext, turn: Turn, minting: Minting): TrustContext {
  const trust = findTrust(turn, minting, context.trustId);
  const { removed, nextMs } = sweepCredentials(turn, context.trustId, trust);
  const ends = [nextMs, sweepRefusals(turn, context.trustId, trust === undefined ? "all" : "old")];
  const next = ends.filter((end) => end !== null);
  const swept = { ...context, sweepAtMs: null, kept: context.kept - removed };
  if (next.length > 0) return sweepBy(swept, turn, Math.min(...next));
  turn.stop();
  return swept;
}

/**
 * Schedules a sweep at `endMs`, or up to {@link SWEEP_EVERY_MS} later. Keeps a sweep that is already scheduled before
 * then.
 */
function sweepBy(context: TrustContext, turn: Turn, endMs: number): TrustContext {
  const atMs = endMs <= turn.now ? turn.now : Math.max(endMs, turn.now + SWEEP_EVERY_MS);
  if (context.sweepAtMs !== null && context.sweepAtMs <= atMs) return context;
  turn.wake("sweep", atMs);
  return { ...context, sweepAtMs: atMs };
}
