import { setImmediate } from "node:timers/promises";
import type { Cursor, Slice } from "../actors/tables/page-source.js";
import type { Runtime } from "../runtime/runtime.js";
import { Refused } from "./refused.js";

/** Reads a slice of a page, from its beginning (null) or from the previous slice's cursor. */
type ReadSlice<Row> = (reading: Runtime["reading"], cursor: Cursor<Row> | null) => Slice<Row>;

/**
 * The rows of a page, read in slices from one view; other work runs between slices. Throws {@link Refused} when the
 * request is aborted.
 */
export async function readPage<Row>(
  runtime: Pick<Runtime, "view">,
  request: { readonly signal: AbortSignal },
  read: ReadSlice<Row>,
): Promise<readonly Row[]> {
  const view = runtime.view();
  try {
    let slice = read(view, null);
    if (slice.next === null) return slice.rows;
    const { signal } = request;
    const rows = [...slice.rows];
    while (slice.next !== null) {
      await setImmediate();
      if (signal.aborted) {
        throw new Refused({ refused: "unavailable", detail: "The list took too long.", retryAfterSeconds: 5 });
      }
      slice = read(view, slice.next);
      rows.push(...slice.rows);
    }
    return rows;
  } finally {
    view.close();
  }
}
