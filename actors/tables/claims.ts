/**
 * Names that are unique over all workspaces: slugs and code host installations. A claim is a row of an actor in the
 * global partition. The claim exists before the workspace (its holder) takes the name in a turn of its own.
 *
 * | claim     | moved by                         | next      | also                                           |
 * |-----------|----------------------------------|-----------|------------------------------------------------|
 * | free      | name.claim                       | pending   | a wake-up in a minute                          |
 * | pending   | name.claim, the same workspace   | pending   | restarts the minute                            |
 * | pending   | name.confirm                     | confirmed |                                                |
 * | pending   | woken                            | pending   | asks its holder; a wake-up in a minute         |
 * | pending   | name.lapse, in answer to the     | free      | the holder has not taken the name and will     |
 * |           | latest question                  |           | not                                            |
 * | confirmed | name.claim, the same workspace   | confirmed |                                                |
 * | either    | name.claim, another workspace    | same      | refused                                        |
 * | either    | name.release, the same workspace | free      |                                                |
 *
 * 1. A pending claim lapses only when its holder answers that it has not taken the name. Time alone does not end the
 *   claim, because a confirmation can be in transit for any time.
 * 2. The holder confirms in the turn that takes the name, and releases in the turn that gives it up.
 */
import type { Reference } from "../../runtime/cells/reference.js";
import type { Message, Turn } from "../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { KeyPart, Reading } from "../../storage/store.js";
import type { Table } from "../../storage/table.js";

/**
 * Time after which the claims actor asks the holder of a pending claim whether it has taken the name, in milliseconds.
 */
export const CLAIM_PENDING_MS = 60_000;

/** A claimed name, as the parts of its row's id. */
export type ClaimedName = readonly KeyPart[];

/** A claim. `pending` is absent after the confirmation. */
export interface ClaimRow {
  readonly workspaceId: string;
  readonly pending?: PendingClaim;
}

interface PendingClaim {
  /**
   * When the claims actor first asks the holder about this claim, in milliseconds since 1970. The question and the
   * answer repeat this time to identify the claim.
   */
  readonly untilMs: number;
  /** The idempotency key of the request, if it has one. */
  readonly attempt?: { readonly scope: string; readonly key: string };
}

/** A message from a name's holder to the claims actor. */
interface AboutName extends Message {
  readonly name: ClaimedName;
  readonly workspaceId: string;
}

/** The workspace has taken the name. */
export interface ConfirmName extends AboutName {
  readonly type: "name.confirm";
}

/** The workspace has given up the name. */
export interface ReleaseName extends AboutName {
  readonly type: "name.release";
}

/** The workspace has not taken the name, and will not do so under this claim. */
export interface LapseName extends AboutName {
  readonly type: "name.lapse";
  /** The `untilMs` of the question. */
  readonly untilMs: number;
}

/** Asks a holder whether it has taken the name; the answer is {@link ConfirmName} or {@link LapseName}. */
export interface AskHolder extends Message {
  readonly type: "name.ask";
  readonly name: ClaimedName;
  readonly untilMs: number;
}

/** The claims of one kind of names. */
export interface Claims {
  readonly rows: Table<ClaimRow>;
  /** The actor that takes the name for its workspace. */
  readonly holder: (workspaceId: string, name: ClaimedName) => Reference<AskHolder>;
}

/** Finds the workspace that has or claims a name; undefined while the name is free. */
export function findClaimant({ rows }: Claims, reading: Reading, name: ClaimedName): string | undefined {
  return rows.get(reading, GLOBAL_PARTITION, ...name)?.workspaceId;
}

/** Claims the name for the workspace and returns the claim; null if another workspace has or claims the name. */
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

/** Confirms a claim. Throws if the workspace does not have the claim: only a message of the holder can end a claim. */
export function confirmName({ rows }: Claims, turn: Turn, { name, workspaceId }: ConfirmName): void {
  const found = rows.get(turn, GLOBAL_PARTITION, ...name);
  if (found?.workspaceId !== workspaceId) {
    throw new Error(`${workspaceId} has taken up ${name.join(" ")}, which is ${found?.workspaceId ?? "nobody"}'s`);
  }
  if (found.pending === undefined) return;
  rows.put(turn, GLOBAL_PARTITION, name, { workspaceId });
  turn.cancelWake(toWakeUp(name));
}

/**
 * Frees a name that its workspace gives up or has not taken. Returns the removed claim; null if the message changed
 * nothing.
 */
export function freeName({ rows }: Claims, turn: Turn, message: ReleaseName | LapseName): ClaimRow | null {
  const { name, workspaceId } = message;
  const found = rows.get(turn, GLOBAL_PARTITION, ...name);
  if (found?.workspaceId !== workspaceId) return null;
  // Ignore an answer to an old question: the claim was confirmed or renewed since.
  if (message.type === "name.lapse" && found.pending?.untilMs !== message.untilMs) return null;
  rows.remove(turn, GLOBAL_PARTITION, ...name);
  turn.cancelWake(toWakeUp(name));
  return found;
}

/** Asks the holder of a pending claim, and sets the next wake-up. */
export function askHolder({ rows, holder }: Claims, turn: Turn, wakeUp: string): void {
  const name: ClaimedName = JSON.parse(wakeUp);
  const found = rows.get(turn, GLOBAL_PARTITION, ...name);
  if (found?.pending === undefined) return;
  const { untilMs } = found.pending;
  turn.send(holder(found.workspaceId, name), { type: "name.ask", name, untilMs });
  turn.wake(wakeUp, turn.now + CLAIM_PENDING_MS);
}

/** Returns the wake-up name of a claim: a JSON list, which differs from all other wake-up names. */
function toWakeUp(name: ClaimedName): string {
  return JSON.stringify(name);
}
