import type { z } from "zod";
import type { Reading, Writing } from "../../storage/store.js";
import type { Caller } from "../caller.js";
import type { Permission } from "../permission.js";
import type { FieldError, Refusal } from "../refusal.js";
import type { ResourceRow } from "./resource.table.js";

/** A setting that is accepted but cannot be honoured as written (common fields). */
export interface Warning {
  readonly path: string;
  readonly message: string;
  readonly severity: "warning";
}

/** A field that names another resource of the same workspace. */
export interface AddressReference {
  /** Path of the field: `stations[0].runners.pool`. */
  readonly path: string;
  readonly kind: string;
  /** The full address of the target: `<team key>/<key>` for a kind that teams hold. */
  readonly address: string;
}

/** A field that names a lookup key of a resource of the same team: a tool of an integration. */
export interface KeyReference {
  readonly path: string;
  readonly kind: string;
  readonly key: string;
  /** The address of the only resource that can have the lookup key. */
  readonly address?: string;
  /** The message when no resource of that kind has the lookup key. */
  readonly missing: string;
}

/** A reference of a field. Its target must exist at the write, and can not go while something refers to it. */
export type Reference = AddressReference | KeyReference;

/** A resource that uses another, as `in-use` names it. */
export interface ResourceUser {
  readonly kind: string;
  readonly address: string;
}

/** The lookup keys by which a team's resources of a kind are found. */
export interface LookupKeys<Fields> {
  /** What a lookup key is: `tool`, `station`, `event`. */
  readonly what: string;
  keys(fields: Fields): readonly string[];
}

/** A write-only field: accepted, but never returned. */
export interface HiddenField<Fields = Record<string, unknown>> {
  /** Dotted path in the body: `value`, `signing.secret`. */
  readonly path: string;
  /** `sealed` can be opened again by the service (AES-256-GCM); `hash` only compared (SHA-256, hex). */
  readonly keep: "sealed" | "hash";
  /** For a hash that only one resource of all workspaces may have. */
  readonly unique?: UniqueHash;
  /**
   * Whether a sealed value that an update gives again belongs to the same fields as before, so that it is no change. Only
   * for values that nobody finds out by trying; without this, a value that is given is a new one.
   */
  isRepeated?(fields: Fields, previous: Fields): boolean;
  /** Whether an earlier value still belongs to these fields, else it is removed. Without this it always belongs. */
  staysWith?(fields: Fields): boolean;
}

/** A hash that must be unique among the resources of a kind over all workspaces. */
export interface UniqueHash {
  /** The error for a value that another resource has: `admits to another pool already`. */
  readonly taken: string;
  /** Whether another resource has the hash; called before the turn, which checks only its own workspace. */
  isTaken(reading: Reading, hash: string, holder: { readonly id: string | null; readonly nowMs: number }): boolean;
}

/** A long text that is exported as a file of its own. */
export interface FileText {
  /** Path of the text in the body: `stations[0].prompt`. */
  readonly path: string;
  /** The file's name below its resource. */
  readonly name: string;
  readonly content: string;
}

/** Long texts of a kind, each exported as `<folder>/<address>/<name>`. Each folder belongs to one kind. */
export interface TextFolder<Fields = Record<string, unknown>> {
  readonly folder: string;
  texts(fields: Fields): readonly FileText[];
}

/** How a kind is written as HCL, in addition to its schema. */
export interface HclForm<Fields> {
  /** Read-only paths within the body, omitted; empty brackets are any index: `stations[].id`. */
  readonly omitted?: readonly string[];
  readonly folders?: readonly TextFolder<Fields>[];
}

/** The station of a line that is to hold a new resource. */
export interface StationHolder {
  readonly lineId: string;
  readonly stationKey: string;
}

/** The location in which a resource is created. */
export interface HolderLocation {
  /** The prefix of the addresses below it. */
  readonly address: string;
  readonly teamId: string | null;
}

/** What the rules of a kind may read: the turn's reads and the location of the resource. */
export interface WriteScope<Fields> {
  readonly reading: Reading;
  readonly workspaceId: string;
  readonly teamId: string | null;
  /** The team's key, or "" for a resource that no team holds. */
  readonly teamKey: string;
  /** Where a resource that a station holds is created, else null. */
  readonly station: StationHolder | null;
  /** Null on create. */
  readonly previous: ResourceRow<Fields> | null;
  /** Hidden fields in this write, sealed or hashed, by path. */
  readonly hidden: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly now: number;
  newId(prefix: string): string;
}

/** A resource that the service made for itself: no list has it, and nobody deletes it. */
export interface MadeResource {
  readonly workspaceId: string;
  readonly teamId: string;
  /** How it is read; null for one that is not. */
  readonly row: ResourceRow | null;
  /** Why it may not be deleted, in a sentence. */
  readonly use: string;
}

/** A write: its caller, the new fields (none on a delete) and the previous ones (none on a create). */
export interface WriteAttempt<Fields> {
  readonly caller: Caller;
  readonly fields: Fields | null;
  readonly previous: ResourceRow<Fields> | null;
}

/**
 * One resource kind, as data. The engine makes the six operations, references and `in-use`, the change log, routes
 * and documentation from it: adding a kind is one such file and one line in the catalogue, `actors/kinds.ts`.
 * Bodies are parsed by `schema` (strict, defaults filled in) at the edge; hidden fields are sealed there and never
 * reach an actor, a row or a log in the clear.
 */
export interface Kind<Fields = Record<string, unknown>> {
  /** `runner-pool` */
  readonly name: string;
  /** The collection in paths: `runner-pools`. */
  readonly plural: string;
  /** Prefix of its ids: `pool`. */
  readonly idPrefix: string;
  readonly heldBy: "none" | "workspace" | "team" | "station";
  /** For a kind that stations hold: the location of the station, or null when it does not exist. */
  locateStation?(reading: Reading, workspaceId: string, station: StationHolder): HolderLocation | null;
  /** True for a kind without an update operation. */
  readonly isNeverReplaced?: boolean;
  /** `outcomes`: visible to callers who may read the team's outcomes; default: to all who see the workspace. */
  readonly seenBy?: "outcomes";
  /** The permission that create, update and delete need. */
  readonly permission: Permission;
  /** True when only a signed-in person may write it, whatever a token's scopes. */
  readonly peopleOnly?: boolean;
  /** The body with every field, hidden ones included; what it yields is what is stored and read. */
  readonly schema: z.ZodType<Fields>;
  /** Errors of a raw body that is too large to parse with `schema` in reasonable time. */
  findSizeErrors?(body: unknown): readonly FieldError[];
  /** Paths an update may not change; the first is the field at the end of the address. */
  readonly fixed: readonly string[];
  readonly hidden: readonly HiddenField<Fields>[];
  /** A hidden field whose value the service makes when none is given; returned once, in a response header on create. */
  readonly reveals?: { readonly path: string; readonly header: string; when(fields: Fields): boolean };
  /** `holder` is the address of its holder: a workspace's slug, a team's key; "" without a holder. */
  address(fields: Fields, holder: string): string;
  /** `teamKey` is "" for a kind that teams do not hold. */
  references(fields: Fields, teamKey: string): readonly Reference[];
  /** Why this caller may not make this write although they have `permission`; or null. Checked first. */
  refuses?(attempt: WriteAttempt<Fields>): Refusal | null;
  /** The rules that need only the definition, not its location; {@link validate} includes them. */
  validateDefinition?(fields: Fields): readonly FieldError[];
  /** Rules beyond the schema and references. */
  validate?(fields: Fields, scope: WriteScope<Fields>): readonly FieldError[];
  warnings?(fields: Fields, reading: Reading, row: ResourceRow<Fields>): readonly Warning[];
  /** Read-only fields, computed at each write and stored in `row.added`; may complete `fields` too (station ids). */
  complete?(
    fields: Fields,
    scope: WriteScope<Fields>,
  ): { readonly fields: Fields; readonly added: Readonly<Record<string, unknown>> };
  /** Read-only fields that are computed at each reading, from the resource's row and what the process never changes. */
  computed?(row: ResourceRow<Fields>): Readonly<Record<string, unknown>>;
  /** The schemas of the fields of `complete` and `computed`; answers are checked against them. */
  readonly added?: Readonly<Record<string, z.ZodType>>;
  /** The resource of the kind that the service made for itself under this id. */
  findMade?(reading: Reading, id: string): MadeResource | undefined;
  /** Resources that use it without a reference: they may name it before it exists. At most `limit`. */
  listUsers?(row: ResourceRow<Fields>, reading: Reading, limit: number): readonly ResourceUser[];
  /** Why it may not be deleted although nothing refers to it (a team with open tasks), or null. */
  inUse?(row: ResourceRow<Fields>, reading: Reading): string | null;
  /** Why an update is refused that would remove something in use (a station with tasks); or null. */
  updateInUse?(fields: Fields, previous: ResourceRow<Fields>, reading: Reading): string | null;
  /** Lookup keys of the kind's resources, which other resources of the team may name (see `listByLookupKey`). */
  readonly lookupKeys?: LookupKeys<Fields>;
  /** How it is exported; null for a kind without export. */
  readonly hcl: HclForm<Fields> | null;
  /** Changes other rows of the kind after an update, in the same batch. `now` is the turn's time. */
  afterUpdate?(
    writing: Writing,
    change: { readonly row: ResourceRow<Fields>; readonly previous: ResourceRow<Fields> },
    now: number,
  ): void;
  /** Details of a change record beyond the action. */
  details?(row: ResourceRow<Fields>, previous: ResourceRow<Fields> | null): Readonly<Record<string, unknown>>;
}
