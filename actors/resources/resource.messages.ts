import type { Answered, Fact } from "../../runtime/turns/turn.js";
import type { Caller } from "../caller.js";
import type { Refusal } from "../refusal.js";
import type { StationHolder } from "./kind.js";
import type { ResourceRow } from "./resource.table.js";

/** Identifies a repeated request by its caller, its key and its body. */
export interface Idempotency {
  /**
   * Consists of the caller, if there is one, and the collection. A request that creates no resource has its route and
   * subject instead of the collection. Requests in different scopes never share a key.
   */
  readonly scope: string;
  readonly key: string;
  /** A digest of the body. */
  readonly digest: string;
}

type Written = Answered<WriteResult | Refusal>;

interface Write {
  readonly kind: string;
  readonly caller: Caller;
  /** The `Service-Client` header, as change records store it. */
  readonly client: string | null;
}

/** A parsed body. Hidden fields are sealed or hashed in `hidden`, and absent from `fields`. */
export interface PreparedBody {
  readonly fields: unknown;
  readonly hidden: Readonly<Record<string, string>>;
  /** The reservations of hidden fields that must be unique over all workspaces. */
  readonly reserved?: ReservedHashes | undefined;
}

/** Hashes that were reserved for a write; see `reserve-hashes.ts`. */
export interface ReservedHashes {
  /** Paths of the fields whose hashes another resource has. */
  readonly taken: readonly string[];
  /** The time before which the hashes must be stored, in milliseconds since 1970. */
  readonly beforeMs: number;
}

/** A resource to create. */
export interface NewResource extends Write, PreparedBody {
  readonly teamId: string | null;
  /** The station that will hold the resource, for a kind that stations hold. */
  readonly station?: StationHolder | undefined;
  readonly idempotency: Idempotency;
}

export interface CreateResource extends Written, NewResource {
  readonly type: "resource.create";
}

export interface UpdateResource extends Written, Write, PreparedBody {
  readonly type: "resource.update";
  readonly id: string;
  /** The version that the write is based on. */
  readonly version: number;
}

export interface DeleteResource extends Written, Write {
  readonly type: "resource.delete";
  readonly id: string;
  readonly version: number;
}

export type ResourceMessage = CreateResource | UpdateResource | DeleteResource;

/** Published as `<kind>.changed` when a resource of the kind is created, updated or deleted. */
export interface ResourceChanged<Kind extends string = string> extends Fact {
  readonly name: `${Kind}.changed`;
  readonly id: string;
}

/** The answer to a write that is not refused. */
export interface WriteResult {
  readonly resource: ResourceRow;
  /** Whether an earlier attempt with the same key made the write. */
  readonly replayed: boolean;
}
