import type { Change, Reading } from "../../storage/store.js";
import type { RowView } from "./row-view.js";

/**
 * In-memory state that reads derive from durable rows of a partition, so that a read does not have to scan the rows. A
 * reading of durable state caches the state between reads and updates it with each durable change. {@link readView}
 * returns it.
 */
export interface ReadView<View> {
  /** The rows that the view is built from, in the form of {@link RowView.rows}. */
  readonly rows: RowView<unknown>["rows"];
  /** Builds the view from the current rows. */
  build(reading: Reading, partition: string): View;
  /**
   * Applies a change of one of the view's rows. Returns false if the view must be rebuilt instead. A change may be
   * applied twice, and the changes of one batch arrive in any order.
   */
  apply(cached: View, change: Change): boolean;
}

/** A reading that caches read views. */
export interface ViewReading extends Reading {
  /** Returns the view of the partition's rows in their current state. */
  readView<View>(view: ReadView<View>, partition: string): View;
}

/**
 * Returns the view of a partition's rows in the reading's current state. If the reading does not cache views (in a
 * turn, or on a store view), builds it from the rows. The result is valid until the next await.
 */
export function readView<View>(reading: Reading, view: ReadView<View>, partition: string): View {
  return isViewReading(reading) ? reading.readView(view, partition) : view.build(reading, partition);
}

function isViewReading(reading: Reading): reading is ViewReading {
  return "readView" in reading;
}
