import type { ActorType, Effect, Gate, Subscriber } from "../runtime/cells/actor-type.js";
import type { DirectorySource } from "../runtime/directories/directory-source.js";
import type { MigrationStep } from "../storage/migrations.js";
import type { StreamTopic } from "./access/visibility/stream-topic.js";
import type { Kind } from "./resources/kind.js";
import type { RunOwner } from "./runs/run-owner.js";
import type { DependentSource } from "./tables/dependents.js";
import type { OwnedRows } from "./tables/owned-rows.js";
import type { RetentionRule } from "./tables/retention.js";
import type { RetentionCatalogue } from "./tables/retention-sweeper.machine.js";
import type { CachedTable, StoredTable } from "./tables/stored-table.js";

/** A table, or a declaration that contains a table: its retention rule, the owners of its rows, or its cache. */
export type AreaTable = StoredTable | RetentionRule | OwnedRows | CachedTable;

/** The parts of the catalogue (`catalogue.ts`) that an area's actors may use, besides the area's own settings. */
export interface ActorParts {
  /** All resource kinds. */
  readonly kinds: readonly Kind[];
  /** All kinds of run owners. */
  readonly runOwners: readonly RunOwner[];
  /** The data that the retention sweeper removes. */
  readonly retained: RetentionCatalogue;
}

/**
 * The manifest of an area, `actors/<name>/<name>.area.ts`. It has the definitions that `catalogue.ts` collects from all
 * areas. Some definitions are functions. Each type parameter is the argument type of one group of these functions. The
 * edge must provide the arguments that the areas need together.
 */
export interface Area<in Deployment = unknown, in Actors = unknown, in Effects = unknown, in Topics = unknown> {
  /** The name of the area's folder. */
  readonly name: string;
  /** Resource kinds. An area lists a kind after the kinds that it refers to; see {@link Kind.listedAfter}. */
  readonly kinds?: (deployment: Deployment) => readonly Kind[];
  /**
   * For resources of other areas' kinds, by kind: a function that returns why a resource cannot be deleted. Functions
   * of later areas are called first.
   */
  readonly inUse?: Readonly<Record<string, NonNullable<Kind["inUse"]>>>;
  readonly actors?: (parts: Actors) => readonly ActorType[];
  /**
   * All tables, without duplicates. A table's declaration also defines its indexes, references to bodies, and
   * retention.
   */
  readonly tables?: readonly AreaTable[];
  /** Indexes that depend on the resource kinds. */
  readonly kindIndexes?: (kinds: readonly Kind[]) => readonly DependentSource[];
  readonly directories?: readonly (StoredTable | CachedTable)[];
  /** The rows and states that can rebuild entries of directories. */
  readonly directorySources?: (kinds: readonly Kind[]) => readonly DirectorySource[];
  readonly subscribers?: readonly Subscriber[];
  readonly gates?: readonly Gate[];
  readonly runOwners?: readonly RunOwner[];
  readonly effects?: (parts: Effects) => readonly Effect[];
  /** Topics of the stream, by the kind of their subject. A topic's name is `<kind>/<id>`. */
  readonly topics?: (parts: Topics) => Readonly<Record<string, StreamTopic>>;
  /**
   * Steps that migrate a store from an earlier release. The service runs the steps of all areas in the order of their
   * numbers, before it accepts requests (`storage/migrations.ts`). If you change the format or the keys of rows, add a
   * step with the next number. A step is one line here and, if it changes rows, a pure function in the area, in a file
   * `<noun>.migration.ts`. Build it from the walks of `storage/migration-walks.ts` (rows) and
   * `runtime/cells/stored-actor-walks.ts` (states, messages and effects of actors):
   *
   *     { to: 9, title: "things have a colour", walks: [eachRow("thing", byColour), removeTable("thing-by-shape")] },
   *
   * Here `byColour(row, place)` returns the changes for one row:
   *
   *     [putRow(place, "thing-by-colour", [row.colour, …], true)]
   *
   * Read rows of megabytes (diffs) a few at a time: `eachRow("run-checkout", …, { maxEntries: 4 })`.
   *
   * Test a step with handwritten rows (`test/support/migrating.ts`). All steps are also tested on the store of the
   * first release (`test/actors/migrations.test.ts`, `test/processes/fixture-store.test.ts`). Never change a released
   * step.
   */
  readonly migrations?: readonly MigrationStep[];
}

/** Declares an area. TypeScript infers the type arguments from the parameters of the area's functions. */
export function defineArea<Deployment = unknown, Actors = unknown, Effects = unknown, Topics = unknown>(
  area: Area<Deployment, Actors, Effects, Topics>,
): Area<Deployment, Actors, Effects, Topics> {
  return area;
}
