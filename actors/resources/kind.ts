import type { z } from "zod";
import type { Reading, Writing } from "../../storage/store.js";
import type { Caller } from "../caller.js";
import type { Permission } from "../permission.js";
import type { FieldError, Refusal } from "../refusal.js";
import type { ResourceRow } from "./resource.table.js";

/** A setting that is accepted but does not work as written. */
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
  /** The full address of the target: `<team key>/<key>` if teams hold the kind. */
  readonly address: string;
}

/**
 * A field that contains a lookup key of another resource of the same team. An example is the name of an integration's
 * tool.
 */
export interface KeyReference {
  readonly path: string;
  readonly kind: string;
  readonly key: string;
  /** The address of the only resource that can have the lookup key. */
  readonly address?: string;
  /** The message if no resource of the kind has the lookup key. */
  readonly missing: string;
}

/**
 * A reference in a field. At the time of the write, at least one resource must match the reference. While the reference
 * exists, the last matching resource cannot be deleted.
 */
export type Reference = AddressReference | KeyReference;

/** A resource that uses another one, as named in an `in-use` answer. */
export interface ResourceUser {
  readonly kind: string;
  readonly address: string;
}

/** A part of a resource with an id and a title of its own. */
export interface ResourcePart {
  /** The kind of the part, for example `station`. */
  readonly kind: string;
  readonly id: string;
  readonly title: string;
  readonly key: string;
}

/** The lookup keys that find a team's resources of a kind. */
export interface LookupKeys<Fields> {
  /** The name of a lookup key for people: `tool`, `station`, `event`. */
  readonly what: string;
  keys(fields: Fields): readonly string[];
}

/** A write-only field: accepted, but never returned. */
export interface HiddenField<Fields = Record<string, unknown>> {
  /** Dotted path in the body: `value`, `signing.secret`. */
  readonly path: string;
  /**
   * `sealed`: the service can decrypt the value (AES-256-GCM). `hash`: the service can only compare it (SHA-256, hex).
   */
  readonly keep: "sealed" | "hash";
  /** Set for a hash that must be unique over all workspaces. */
  readonly unique?: UniqueHash;
  /**
   * Returns whether the fields that the sealed value belongs to are the same in `fields` and in `previous`. If so,
   * writing the stored value again is not a change. Define this function only for values that cannot be guessed.
   * Without it, every given value counts as new.
   */
  isRepeated?(fields: Fields, previous: Fields): boolean;
  /**
   * Returns whether the stored value still belongs to these fields. If not, the write removes the stored value. Without
   * this function, the stored value always stays.
   */
  staysWith?(fields: Fields): boolean;
}

/** A hash that must be unique among the resources of a kind over all workspaces. */
export interface UniqueHash {
  /** The error if another resource has the value: `is already used by another pool`. */
  readonly taken: string;
  /**
   * Returns whether another resource has the hash. Called before the turn of the write, because the turn can only check
   * its own workspace.
   */
  isTaken(reading: Reading, hash: string, holder: { readonly id: string | null; readonly nowMs: number }): boolean;
}

/** A long text that is exported as its own file. */
export interface FileText {
  /** Path of the text in the body: `stations[0].prompt`. */
  readonly path: string;
  /** The file name within the resource's folder. */
  readonly name: string;
  readonly content: string;
}

/** Long texts of a kind, each exported as `<folder>/<address>/<name>`. Each folder belongs to one kind. */
export interface TextFolder<Fields = Record<string, unknown>> {
  readonly folder: string;
  texts(fields: Fields): readonly FileText[];
}

/** The HCL form of a kind, in addition to its schema. */
export interface HclForm<Fields> {
  /** Read-only paths in the body to omit. Empty brackets match any index: `stations[].id`. */
  readonly omitted?: readonly string[];
  readonly folders?: readonly TextFolder<Fields>[];
}

/** The station of a line that will hold a new resource. */
export interface StationHolder {
  readonly lineId: string;
  readonly stationKey: string;
}

/** The location in which a resource is created. */
export interface HolderLocation {
  /** The address prefix of the resources in the location. */
  readonly address: string;
  readonly teamId: string | null;
}

/** The data that the rules of a kind may read in a write: the turn's reads, and the location of the resource. */
export interface WriteScope<Fields> {
  readonly reading: Reading;
  readonly workspaceId: string;
  readonly teamId: string | null;
  /** The team's key, or "" for a resource that no team holds. */
  readonly teamKey: string;
  /** The station of a new resource that a station holds; otherwise null. */
  readonly station: StationHolder | null;
  /** Null on create. */
  readonly previous: ResourceRow<Fields> | null;
  /** The hidden fields that this write sets, sealed or hashed, by path. */
  readonly hidden: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly now: number;
  newId(prefix: string): string;
}

/** A resource that the service created for its own use. Lists do not contain the resource, and nobody can delete it. */
export interface MadeResource {
  readonly workspaceId: string;
  readonly teamId: string;
  /** The resource for reads; null if the resource cannot be read. */
  readonly row: ResourceRow | null;
  /** The reason, in a sentence, why the resource cannot be deleted. */
  readonly use: string;
}

/** The data that live fields may read. */
export interface LiveScope<Fields> {
  readonly reading: Reading;
  readonly row: ResourceRow<Fields>;
  readonly caller: Caller;
  readonly nowMs: number;
}

/** Read-only fields of a kind that change without a write of the resource. They have no version. */
export interface LiveFields<Fields> {
  readonly schemas: Readonly<Record<string, z.ZodType>>;
  /** Reads the fields in time proportional to their size. */
  read(scope: LiveScope<Fields>): Readonly<Record<string, unknown>>;
}

/** A write: its caller, the new fields (null for a delete) and the previous resource (null for a create). */
export interface WriteAttempt<Fields> {
  readonly caller: Caller;
  readonly fields: Fields | null;
  readonly previous: ResourceRow<Fields> | null;
}

/**
 * A resource kind, as data. The engine derives the six operations, references and `in-use`, the change log, routes and
 * documentation from it. To add a kind, write one file with a `Kind`, and add one line to the manifest of its area.
 *
 * The edge parses bodies with `schema` (strict, with defaults) and seals hidden fields. So no actor, row or log gets a
 * hidden field in plain text.
 */
export interface Kind<Fields = Record<string, unknown>> {
  /** The kind's name, for example `runner-pool`. */
  readonly name: string;
  /** The collection in paths: `runner-pools`. */
  readonly plural: string;
  /** Prefix of the kind's ids: `pool`. */
  readonly idPrefix: string;
  /**
   * Kinds that must come before this kind in exports and documents: those that this kind refers to. An export can then
   * use references. All other kinds are in the order of the areas.
   */
  readonly listedAfter?: readonly string[];
  readonly heldBy: "none" | "workspace" | "team" | "station";
  /** For a kind that stations hold: returns the location of the station, or null if the station does not exist. */
  locateStation?(reading: Reading, workspaceId: string, station: StationHolder): HolderLocation | null;
  /** True for a kind that has no update operation. */
  readonly isNeverReplaced?: boolean;
  /**
   * `outcomes`: visible to callers who may read the team's outcomes. Default: visible to everyone who sees the
   * workspace.
   */
  readonly seenBy?: "outcomes";
  /** The permission that create, update and delete need. */
  readonly permission: Permission;
  /** True if only a signed-in person may write resources of this kind. A token may not, with any scope. */
  readonly peopleOnly?: boolean;
  /** The schema of a body with every field, including hidden ones. The schema's output is stored and read. */
  readonly schema: z.ZodType<Fields>;
  /** Returns errors of a raw body that is too large to parse with `schema` in reasonable time. */
  findSizeErrors?(body: unknown): readonly FieldError[];
  /**
   * Paths that an update may not change. If there are any, the value at the first path is the last part of the address.
   */
  readonly fixed: readonly string[];
  readonly hidden: readonly HiddenField<Fields>[];
  /**
   * A hidden field whose value the service generates if the body of a create has none. The response to the create
   * returns the value once, in a header.
   */
  readonly reveals?: { readonly path: string; readonly header: string; when(fields: Fields): boolean };
  /**
   * Returns the address of a resource with these fields. `holder` is the address of its holder: a workspace's slug, a
   * team's key, or "" if it has no holder.
   */
  address(fields: Fields, holder: string): string;
  /** Lists the references. `teamKey` is "" for a kind that teams do not hold. */
  references(fields: Fields, teamKey: string): readonly Reference[];
  /**
   * Returns why a caller who has `permission` may still not make this write; null if the caller may. Called before all
   * other checks.
   */
  refuses?(attempt: WriteAttempt<Fields>): Refusal | null;
  /**
   * Returns the errors of rules that need only the definition, not its location. {@link validate} returns these errors
   * too.
   */
  validateDefinition?(fields: Fields): readonly FieldError[];
  /** Checks the rules beyond the schema and references. */
  validate?(fields: Fields, scope: WriteScope<Fields>): readonly FieldError[];
  warnings?(fields: Fields, reading: Reading, row: ResourceRow<Fields>): readonly Warning[];
  /**
   * Completes optional fields that depend on other fields or on the previous fields (null on create). {@link complete}
   * also does this.
   */
  fill?(fields: Fields, previous: Fields | null): Fields;
  /**
   * Computes at each write the read-only fields that are stored in `row.added`. May also complete `fields`, for example
   * with station ids.
   */
  complete?(
    fields: Fields,
    scope: WriteScope<Fields>,
  ): { readonly fields: Fields; readonly added: Readonly<Record<string, unknown>> };
  /** Computes read-only fields at each read, from the resource's row and constants of the process. */
  computed?(row: ResourceRow<Fields>): Readonly<Record<string, unknown>>;
  /** The schemas of the fields of `complete` and `computed`. Answers are checked against them. */
  readonly added?: Readonly<Record<string, z.ZodType>>;
  /** Fields that reads add, and that writes ignore. */
  readonly live?: LiveFields<Fields>;
  /** Finds a resource of the kind that the service created for its own use, by its id; undefined if there is none. */
  findMade?(reading: Reading, id: string): MadeResource | undefined;
  /**
   * Lists at most `limit` resources that use this resource without a declared reference. They may even name a resource
   * that does not exist yet.
   */
  listUsers?(row: ResourceRow<Fields>, reading: Reading, limit: number): readonly ResourceUser[];
  /**
   * Returns why a resource cannot be deleted although no other resource refers to it. An example is a team with open
   * tasks. Null if it can be deleted.
   */
  inUse?(row: ResourceRow<Fields>, reading: Reading): string | null;
  /**
   * Returns why an update with these fields is refused because it would remove something in use, such as a station with
   * tasks. Null if it is not refused.
   */
  updateInUse?(fields: Fields, previous: ResourceRow<Fields>, reading: Reading): string | null;
  /** The lookup keys of the kind's resources, which other resources of the team may name (see `listByLookupKey`). */
  readonly lookupKeys?: LookupKeys<Fields>;
  /** The title of the kind's resources in search results; absent for a kind that is not searched. */
  title?(fields: Fields): string;
  /** Lists the parts of a resource that have ids: the stations of a line. */
  listParts?(fields: Fields): readonly ResourcePart[];
  /** The export form; null for a kind without export. */
  readonly hcl: HclForm<Fields> | null;
  /**
   * After an update, changes other rows that the kind stores for the resource, in the same batch. `now` is the turn's
   * time.
   */
  afterUpdate?(
    writing: Writing,
    change: { readonly row: ResourceRow<Fields>; readonly previous: ResourceRow<Fields> },
    now: number,
  ): void;
  /** When a resource is deleted, removes other rows that the kind stores for this resource, in the same batch. */
  afterDelete?(writing: Writing, row: ResourceRow<Fields>): void;
  /** Returns details of a change record beyond the action. */
  details?(row: ResourceRow<Fields>, previous: ResourceRow<Fields> | null): Readonly<Record<string, unknown>>;
}
