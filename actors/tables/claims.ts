/**
 * Names that are unique over all workspaces: a slug, an installation of the code host. Their claims are rows of an
 * actor of the global partition, which gets the claim before the turn of the workspace that takes the name up.
 *
 * | claim     | moved by                         | next      | also                                           |
 * |-----------|----------------------------------|-----------|------------------------------------------------|
 * | free      | name.claim                       | pending   | a wake-up in a minute                          |
 * | pending   | name.claim, the same workspace   | pending   | the minute begins anew                         |
 * | pending   | name.confirm                     | confirmed |                                                |
 * | pending   | woken                            | pending   | its holder is asked; a wake-up in a minute     |
 * | pending   | name.lapse, in answer to the     | free      | the holder did not take the name up, and will  |
 * |           | latest question                  |           | not                                            |
 * | confirmed | name.claim, the same workspace   | confirmed |                                                |
 * | either    | name.claim, another workspace    | same      | refused                                        |
 * | either    | name.release, the same workspace | free      |                                                |
 *
 * 1. A pending claim lapses only when its holder says so: a confirmation may be under way for any length of time.
 * 2. The holder confirms in the turn in which it takes the name up, and releases in the turn in which it gives it back.
 */
import type { Reference } from "../../runtime/reference.js";
import type { Message, Turn } from "../../runtime/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { KeyPart, Reading } from "../../storage/store.js";
import type { Table } from "../../storage/table.js";

/** How long a claim stays before its holder is asked whether it took the name up, in milliseconds. */
export const CLAIM_PENDING_MS = 60_000;

/** What is claimed, by the parts of its row's id. */
export type ClaimedName = readonly KeyPart[];

/** A claim. Nothing but the workspace stands in one that is confirmed. */
export interface ClaimRow {
  readonly workspaceId: string;
  readonly pending?: PendingClaim;
}

interface PendingClaim {
  /** When its holder is asked. */
  readonly untilMs: number;
  /** The idempotency key under which it was claimed, where there is one. */
  readonly attempt?: { readonly scope: string; readonly key: string };
}

/** A message of a name's holder to the actor of its claims. */
interface AboutName extends Message {
  readonly name: ClaimedName;
  readonly workspaceId: string;
}

/** The name is taken up: it is the workspace's from now on. */
export interface ConfirmName extends AboutName {
  readonly type: "name.confirm";
}

/** The name is given back. */
export interface ReleaseName extends AboutName {
  readonly type: "name.release";
}

/** The name was not taken up, and is not going to be under this claim. */
export interface LapseName extends AboutName {
  readonly type: "name.lapse";
  /** As the question has it. */
  readonly untilMs: number;
}

/** Asks a holder whether it took a name up; it answers {@link ConfirmName} or {@link LapseName}. */
export interface AskHolder extends Message {
  readonly type: "name.ask";
  readonly name: ClaimedName;
  readonly untilMs: number;
}

/** The claims of names of one sort. */
export interface Claims {
  readonly rows: Table<ClaimRow>;
  /** The actor that takes a name up for its workspace. */
  readonly holder: (workspaceId: string, name: ClaimedName) => Reference<AskHolder>;
}

/** The workspace that has a name, or claims it; undefined while it is free. */
export function findClaimant({ rows }: Claims, reading: Reading, name: ClaimedName): string | undefined {
  return rows.get(reading, GLOBAL_PARTITION, ...name)?.workspaceId;
}

/** Claims the name for the workspace and returns the claim; null when another workspace has the name. */
export function claimName(
  { rows }: Claims,
  turn: Turn,
  name: ClaimedName,
  { workspaceId, attempt }: { readonly workspaceId: string } & Pick<PendingClaim, "attempt">,
): ClaimRow | null {
  const found = rows.get(turn, GLOBAL_PARTITION, ...name);
  if (found !== undefined && found.workspaceId !== workspaceId) return null;
  if (found !== undefined && found.pending === undefined) return found;
  const untilMs = turn.now + CLAIM_PENDING_MS;
  const pending: PendingClaim = attempt === undefined ? { untilMs } : { untilMs, attempt };
  const claim: ClaimRow = { workspaceId, pending };
  rows.put(turn, GLOBAL_PARTITION, name, claim);
  turn.wake(toWakeUp(name), untilMs);
  return claim;
}

/**
 * Keeps a claim for good. Throws where the name is not the workspace's: no claim is given up behind its holder's back.
 */
export function confirmName({ rows }: Claims, turn: Turn, { name, workspaceId }: ConfirmName): void {
  const found = rows.get(turn, GLOBAL_PARTITION, ...name);
  if (found?.workspaceId !== workspaceId) {
    throw new Error(`${workspaceId} has taken up ${name.join(" ")}, which is ${found?.workspaceId ?? "nobody"}'s`);
  }
  if (found.pending === undefined) return;
  rows.put(turn, GLOBAL_PARTITION, name, { workspaceId });
  turn.cancelWake(toWakeUp(name));
}

/** Frees a name that its workspace gives back, or never took up; gives the claim there was, null when there is none. */
export function freeName({ rows }: Claims, turn: Turn, message: ReleaseName | LapseName): ClaimRow | null {
  const { name, workspaceId } = message;
  const found = rows.get(turn, GLOBAL_PARTITION, ...name);
  if (found?.workspaceId !== workspaceId) return null;
  // Since it was asked, the claim was confirmed or made again.
  if (message.type === "name.lapse" && found.pending?.untilMs !== message.untilMs) return null;
  rows.remove(turn, GLOBAL_PARTITION, ...name);
  turn.cancelWake(toWakeUp(name));
  return found;
}

/** Asks the holder of the pending claim that a wake-up is about, and sets the wake-up to ask again. */
export function askHolder({ rows, holder }: Claims, turn: Turn, wakeUp: string): void {
  const name: ClaimedName = JSON.parse(wakeUp);
  const found = rows.get(turn, GLOBAL_PARTITION, ...name);
  if (found?.pending === undefined) return;
  const { untilMs } = found.pending;
  turn.send(holder(found.workspaceId, name), { type: "name.ask", name, untilMs });
  turn.wake(wakeUp, turn.now + CLAIM_PENDING_MS);
}

/** The wake-up of a name's claim: a JSON list, so it is no other wake-up's name. */
function toWakeUp(name: ClaimedName): string {
  return JSON.stringify(name);
}
