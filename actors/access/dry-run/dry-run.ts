import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import type { InSteps } from "../../in-steps.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import type { Kind } from "../../resources/kind.js";
import { addressTaken, createResource, deleteResource, updateResource } from "../../resources/operations.js";
import { withdrawOrphaned } from "../../resources/orphaned-resources.js";
import type { PreparedBody, WriteResult } from "../../resources/resource.messages.js";
import { findResource, type ResourceRow } from "../../resources/resource.table.js";
import { putMember } from "../../workspaces/member.table.js";
import { findWorkspaceBySlug } from "../../workspaces/slug-claims.machine.js";
import { workspaceRef } from "../../workspaces/workspace.messages.js";
import { forbid } from "../visibility/visibility.js";
import { refuseInTurn } from "../visibility/write-permission.js";
import { DryRunTurn } from "./dry-run-turn.js";

/** A create, update or delete of a resource, for a dry run. */
export type TriedChange =
  | {
      readonly action: "create";
      readonly kind: string;
      /** The caller's placeholder for the id that the new resource will get. Later changes can use it as `teamId`. */
      readonly id: string;
      /**
       * The id of the team that holds the resource, or the placeholder of an earlier create; null if no team holds it.
       */
      readonly teamId: string | null;
      readonly body: unknown;
    }
  | {
      readonly action: "update";
      readonly kind: string;
      readonly id: string;
      readonly version: number;
      readonly body: unknown;
    }
  | { readonly action: "delete"; readonly kind: string; readonly id: string; readonly version: number };

/** A change that the service would refuse. */
export interface RefusedChange {
  /** The index in the list of changes. */
  readonly change: number;
  readonly refusal: Refusal;
}

/** The body of a create or update. `base` is the current resource for an update, and null for a create. */
export interface BodyToPrepare {
  readonly kind: Kind;
  readonly body: unknown;
  readonly base: { readonly row: ResourceRow; readonly version: number } | null;
}

interface DryRunScope {
  readonly reading: Reading;
  readonly kinds: readonly Kind[];
  readonly caller: Caller;
  readonly client: string | null;
  readonly now: number;
  /**
   * The id of the workspace that all changes belong to. If the first change creates the workspace, this is an unused
   * id.
   */
  readonly workspaceId: string;
  /** Whether the workspace is new, so that the first change creates it. */
  readonly isNew: boolean;
  newId(prefix: string): string;
  /** Parses a body and seals or hashes its hidden fields, as for a real write. */
  prepare(given: BodyToPrepare): PreparedBody | Refusal;
}

/**
 * Maximum number of passes over the changes. A second pass is rarely needed, because clients send a resource before the
 * resources that refer to it.
 */
const MAX_PASSES = 20;

/**
 * Tries changes of one workspace in memory, one after the other. Returns the changes that the service would refuse, in
 * their order. Yields before each change. Stores nothing.
 *
 * - If a change is refused with `in-use`, the dry run tries it again after the other changes, because another change
 *   may remove the use.
 * - If a change is refused with `invalid`, the dry run tries it again only if another change already waits for a
 *   second try.
 * - If the create of a team is refused, the dry run does not try creates in this team.
 */
export function* dryRun(scope: DryRunScope, changes: readonly TriedChange[]): InSteps<readonly RefusedChange[]> {
  const trial = new Trial(scope);
  const refused: RefusedChange[] = [];
  let queue: readonly number[] = changes.map((_, index) => index);
  for (let pass = 1; queue.length > 0; pass++) {
    const waiting: RefusedChange[] = [];
    for (const index of queue) {
      yield;
      const change = changes[index];
      const refusal = change === undefined ? null : trial.make(change);
      if (refusal === null) continue;
      const list = mayWait(refusal, waiting.length > 0) ? waiting : refused;
      list.push({ change: index, refusal });
    }
    const next = waiting.map(({ change }) => change);
    if (next.length < queue.length && pass < MAX_PASSES) queue = next;
    else {
      refused.push(...waiting);
      queue = [];
    }
  }
  return refused.sort((left, right) => left.change - right.change);
}

function mayWait({ refused }: Refusal, isOtherWaiting: boolean): boolean {
  return refused === "in-use" || (refused === "invalid" && isOtherWaiting);
}

class Trial {
  readonly #scope: DryRunScope;
  readonly #kinds: ReadonlyMap<string, Kind>;
  readonly #turn: DryRunTurn;
  /** The ids of new resources by the caller's placeholder. A null id means that the create was refused. */
  readonly #ids = new Map<string, string | null>();
  /** Number of creates so far. */
  #creates = 0;
  /** Whether a change has created the workspace. */
  #isOpened = false;

  constructor(scope: DryRunScope) {
    const { reading, kinds, now, workspaceId } = scope;
    this.#scope = scope;
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]));
    this.#turn = new DryRunTurn(reading, {
      self: workspaceRef(workspaceId),
      now,
      newId: (prefix) => scope.newId(prefix),
    });
  }

  /** Makes a change in memory. Returns the refusal if the service would refuse the change; otherwise null. */
  make(change: TriedChange): Refusal | null {
    const kind = this.#kinds.get(change.kind);
    if (kind === undefined) return { refused: "not-found", detail: `There is no kind ${change.kind}.` };
    const { caller, client } = this.#scope;
    const write = { kind: kind.name, caller, client };
    if (change.action === "create") return this.#create(kind, change, write);
    const { id, version } = change;
    if (change.action === "delete") {
      const message = { ...write, type: "resource.delete", id, version } as const;
      return this.#written(kind, refuseInTurn(this.#turn, kind, message) ?? deleteResource(this.#turn, kind, message));
    }
    const row = findResource(this.#turn, this.#scope.workspaceId, kind.name, id);
    if (row === undefined) return { refused: "not-found" };
    const forbidden = refuseInTurn(this.#turn, kind, { ...write, type: "resource.update" });
    if (forbidden !== null) return forbidden;
    const prepared = this.#scope.prepare({ kind, body: change.body, base: { row, version } });
    if (isRefusal(prepared)) return prepared;
    const reserved = this.#reserve(kind, prepared, id);
    const message = { ...write, ...prepared, reserved, type: "resource.update", id, version } as const;
    return this.#written(kind, updateResource(this.#turn, kind, message));
  }

  #create(
    kind: Kind,
    { id, teamId, body }: Extract<TriedChange, { readonly action: "create" }>,
    write: { readonly kind: string; readonly caller: Caller; readonly client: string | null },
  ): Refusal | null {
    const holder = teamId === null ? null : this.#ids.get(teamId);
    // The create of this team was refused, and that refusal is already in the result.
    if (holder === null && teamId !== null) return null;
    this.#ids.set(id, null);
    const forbidden =
      this.#refuseOpening(kind) ?? refuseInTurn(this.#turn, kind, { ...write, type: "resource.create" });
    if (forbidden !== null) return forbidden;
    const prepared = this.#scope.prepare({ kind, body, base: null });
    if (isRefusal(prepared)) return prepared;
    this.#creates += 1;
    // Each create gets its own idempotency key, so that no create counts as a repeat of an earlier create.
    const idempotency = { scope: "", key: String(this.#creates), digest: "" };
    const message = {
      ...write,
      ...prepared,
      reserved: this.#reserve(kind, prepared, null),
      type: "resource.create",
      teamId: holder ?? teamId,
      idempotency,
    } as const;
    const written = this.#refuseSlug(kind, prepared) ?? createResource(this.#turn, kind, message);
    if (isRefusal(written)) return written;
    this.#ids.set(id, written.resource.id);
    if (kind.heldBy === "none") this.#own();
    return null;
  }

  /**
   * Refuses to create a workspace if the caller is a token, or if this dry run already has a workspace. All changes of
   * a dry run belong to one workspace.
   */
  #refuseOpening(kind: Kind): Refusal | null {
    if (kind.heldBy !== "none") return null;
    const { caller, isNew } = this.#scope;
    if (caller.kind === "token") return forbid("open-workspaces", kind.name);
    if (isNew && !this.#isOpened) return null;
    return {
      refused: "conflict",
      detail: "The changes are of another workspace. Try a new workspace in its own dry run.",
    };
  }

  /** Refuses a new workspace whose slug is taken. */
  #refuseSlug(kind: Kind, { fields }: PreparedBody): Refusal | null {
    if (kind.heldBy !== "none") return null;
    const slug = kind.address(fields as Record<string, unknown>, "");
    return findWorkspaceBySlug(this.#scope.reading, slug) === undefined ? null : addressTaken(kind, slug);
  }

  /** Makes the caller the owner of the new workspace. */
  #own(): void {
    this.#isOpened = true;
    const { caller, workspaceId, now } = this.#scope;
    if (caller.kind !== "person") return;
    const { userId, email } = caller;
    putMember(this.#turn, workspaceId, { userId, email, role: "owner", teams: [], since: new Date(now).toISOString() });
  }

  /** Returns the paths of hidden fields whose value must be unique and is taken. Reserves nothing. */
  #reserve({ hidden: fields }: Kind, { hidden }: PreparedBody, id: string | null): PreparedBody["reserved"] {
    const { reading, now: nowMs } = this.#scope;
    const taken = fields.flatMap(({ path, unique }) => {
      const hash = hidden[path];
      return hash !== undefined && unique?.isTaken(reading, hash, { id, nowMs }) === true ? [path] : [];
    });
    return { taken, beforeMs: Number.POSITIVE_INFINITY };
  }

  #written(kind: Kind, written: WriteResult | Refusal): Refusal | null {
    if (isRefusal(written)) return written;
    if (kind.name === "line") withdrawOrphaned(this.#turn, this.#scope.kinds, written.resource, this.#scope.client);
    return null;
  }
}
