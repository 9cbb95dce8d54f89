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
  /** Where it stands: `stations[0].runners.pool`. */
  readonly path: string;
  readonly kind: string;
  /** The full address of what is named: `<team key>/<key>` for a team-held kind. */
  readonly address: string;
}

/** A field that names what some resource of the same team is listed under: a tool of an integration. */
export interface KeyReference {
  readonly path: string;
  readonly kind: string;
  readonly word: string;
  /** The address of the only one that can be listed under it. */
  readonly address?: string;
  /** What is said where no resource of that kind is listed under the word. */
  readonly missing: string;
}

/** What a field names; it must be there when it is written, and stays until nothing names it. */
export type Reference = AddressReference | KeyReference;

/** Words that a team's resources of a kind are found by. */
export interface LookupKeys<Fields> {
  /** What a word is: `tool`, `station`, `event`. */
  readonly what: string;
  keys(fields: Fields): readonly string[];
}

/** A field that is taken but never given back. */
export interface HiddenField<Fields = Record<string, unknown>> {
  /** Dotted path in the body: `value`, `signing.secret`. */
  readonly path: string;
  /** `sealed` can be opened again by the service (AES-256-GCM); `hash` only compared (SHA-256, hex). */
  readonly keep: "sealed" | "hash";
  /** For a hash: one resource's alone, over all workspaces. */
  readonly unique?: UniqueHash;
  /** Whether a value written earlier belongs to these fields still; without it, to all. What does not is forgotten. */
  staysWith?(fields: Fields): boolean;
}

/** A hash that no two resources of a kind keep, in whatever workspaces. */
export interface UniqueHash {
  /** What is said of a value that is another's: `admits to another pool already`. */
  readonly taken: string;
  /** Whether it is another's; asked before the turn that keeps it, in which only its own workspace is looked at. */
  isTaken(reading: Reading, hash: string, keeper: { readonly id: string | null; readonly nowMs: number }): boolean;
}

/** A long text that stands in a file of its own. */
export interface FileText {
  /** Where the text is in the body: `stations[0].prompt`. */
  readonly path: string;
  /** The file's name below its resource. */
  readonly name: string;
  readonly content: string;
}

/** Long texts of a kind, each exported as `<folder>/<address>/<name>`. A folder is one kind's alone. */
export interface TextFolder<Fields = Record<string, unknown>> {
  readonly folder: string;
  texts(fields: Fields): readonly FileText[];
}

/** How a kind is written as HCL, beyond what its schema says. */
export interface HclForm<Fields> {
  /** Read-only paths within the body, left out; empty brackets stand for any index: `stations[].id`. */
  readonly omitted?: readonly string[];
  readonly folders?: readonly TextFolder<Fields>[];
}

/** A station of a line, where a resource is created that a station holds. */
export interface StationHolder {
  readonly lineId: string;
  readonly stationKey: string;
}

/** Where a resource is created. */
export interface HolderLocation {
  /** What addresses below it begin with. */
  readonly address: string;
  readonly teamId: string | null;
}

/** What the rules of a kind may look at: the turn's reads and where the resource stands. */
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
  /** Hidden fields that this write brings, sealed or hashed, by path. */
  readonly hidden: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly now: number;
  newId(prefix: string): string;
}

/** Who writes what over what: no fields on a delete, nothing before on a create. */
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
  /** For what a station holds: where the station is, or null when there is none such. */
  locateStation?(reading: Reading, workspaceId: string, station: StationHolder): HolderLocation | null;
  /** True for a kind without an update: what is to be different is made anew. */
  readonly isNeverReplaced?: boolean;
  /** `outcomes`: seen by those alone who may read how the team's work turned out; else by all who see the workspace. */
  readonly seenBy?: "outcomes";
  /** What create, update and delete need. */
  readonly permission: Permission;
  /** True when only a signed-in person may write it, whatever a token's scopes. */
  readonly peopleOnly?: boolean;
  /** The body with every field, hidden ones included; what it yields is what is stored and read. */
  readonly schema: z.ZodType<Fields>;
  /** Why a body, as it came, is not read by `schema` at all: that would take too long. */
  findSizeErrors?(body: unknown): readonly FieldError[];
  /** Paths an update may not change; the first is the field that the address ends with. */
  readonly fixed: readonly string[];
  readonly hidden: readonly HiddenField<Fields>[];
  /** A hidden field whose value the service makes when it is not given, told once in a response header on create. */
  readonly reveals?: { readonly path: string; readonly header: string; when(fields: Fields): boolean };
  /** `holder` is the address of what holds it: a workspace's slug, a team's key; "" for what nothing holds. */
  address(fields: Fields, holder: string): string;
  /** `teamKey` is "" for a kind that no team holds. */
  references(fields: Fields, teamKey: string): readonly Reference[];
  /** Why this caller may not make this write, although they hold `permission`; or null. Asked before anything else. */
  refuses?(attempt: WriteAttempt<Fields>): Refusal | null;
  /** Those of the rules that look at the definition alone, wherever it is written; {@link validate} has them, too. */
  validateDefinition?(fields: Fields): readonly FieldError[];
  /** Rules beyond the schema and references. */
  validate?(fields: Fields, scope: WriteScope<Fields>): readonly FieldError[];
  warnings?(fields: Fields, reading: Reading, row: ResourceRow<Fields>): readonly Warning[];
  /** Read-only fields, computed at each write and kept in `row.added`; `fields` may be completed too (station ids). */
  complete?(
    fields: Fields,
    scope: WriteScope<Fields>,
  ): { readonly fields: Fields; readonly added: Readonly<Record<string, unknown>> };
  /** The schemas of the fields that `complete` gives in `added`; answers are held against them. */
  readonly added?: Readonly<Record<string, z.ZodType>>;
  /** Why it may not be deleted although nothing refers to it (a team with open tasks), or null. */
  inUse?(row: ResourceRow<Fields>, reading: Reading): string | null;
  /** Why this update may not be made: it would remove something that is still used (a station with tasks); or null. */
  updateInUse?(fields: Fields, previous: ResourceRow<Fields>, reading: Reading): string | null;
  /** What a team's resources of the kind are found by, and others of the team may name (see `resourcesUnder`). */
  readonly lookupKeys?: LookupKeys<Fields>;
  /** How it is exported; null for a kind that is not. */
  readonly hcl: HclForm<Fields> | null;
  /** Rows of the kind's own that an update changes too, in the same batch. `now` is the turn's. */
  afterUpdate?(
    writing: Writing,
    change: { readonly row: ResourceRow<Fields>; readonly previous: ResourceRow<Fields> },
    now: number,
  ): void;
  /** What a change record keeps beyond the action. */
  details?(row: ResourceRow<Fields>, previous: ResourceRow<Fields> | null): Readonly<Record<string, unknown>>;
}
