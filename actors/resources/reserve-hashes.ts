import type { Runtime } from "../../runtime/runtime.js";
import { hashReservationsRef } from "./hash-reservations.machine.js";
import type { Kind } from "./kind.js";
import type { ReservedHashes } from "./resource.messages.js";

/** Which resource is to keep the hashes; `id` is null for one that is to be made. */
export interface HashHolder {
  readonly workspaceId: string;
  readonly id: string | null;
}

/**
 * Reserves the hashes of a write that are one resource's alone over all workspaces, before the workspace's turn; undefined
 * when there are none. What is another's already is named in what comes back, and refused in that turn.
 */
export async function reserveHashes(
  runtime: Pick<Runtime, "ask" | "reading" | "clock">,
  kind: Kind,
  hidden: Readonly<Record<string, string>>,
  { workspaceId, id }: HashHolder,
): Promise<ReservedHashes | undefined> {
  const taken: string[] = [];
  let beforeMs: number | undefined;
  for (const { path, unique } of kind.hidden) {
    const hash = hidden[path];
    if (unique === undefined || hash === undefined) continue;
    const isTaken = unique.isTaken(runtime.reading, hash, { id, nowMs: runtime.clock.now() });
    const message = { type: "hash.reserve", kind: kind.name, hash, workspaceId } as const;
    const reserved = isTaken ? null : await runtime.ask(hashReservationsRef, message);
    if (reserved === null) taken.push(path);
    beforeMs = Math.min(beforeMs ?? Number.POSITIVE_INFINITY, reserved?.beforeMs ?? Number.POSITIVE_INFINITY);
  }
  return beforeMs === undefined ? undefined : { taken, beforeMs };
}
