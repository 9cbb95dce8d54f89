import type { Cursor, Slice } from "../../actors/tables/page-source.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { RouteRequest } from "./route.js";

/** Reads a slice of a page, from its beginning (null) or from the previous slice's cursor. */
type ReadSlice<Row> = (reading: Runtime["reading"], cursor: Cursor<Row> | null) => Slice<Row>;

/**
 * The rows of a page, read in slices from one view; other work runs between slices, and while others wait also before
 * the first and after the last. Throws why the request is aborted when it is.
 */
export async function readPage<Row>(
  runtime: Pick<Runtime, "view">,
  request: Pick<RouteRequest, "signal" | "pause" | "goOn">,
  read: ReadSlice<Row>,
): Promise<readonly Row[]> {
  const first = request.goOn();
  if (first !== null) await first;
  const rows = await readSlices(runtime, request, read);
  const last = request.goOn();
  if (last !== null) await last;
  return rows;
}

async function readSlices<Row>(
  runtime: Pick<Runtime, "view">,
  request: Pick<RouteRequest, "signal" | "pause">,
  read: ReadSlice<Row>,
): Promise<readonly Row[]> {
  const view = runtime.view();
  try {
    let slice = read(view, null);
    if (slice.next === null) return slice.rows;
    const { signal } = request;
    const rows = [...slice.rows];
    while (slice.next !== null) {
      await request.pause();
      signal.throwIfAborted();
      slice = read(view, slice.next);
      rows.push(...slice.rows);
    }
    return rows;
  } finally {
    view.close();
  }
}

/** Rows converted before other work has its turn: about a tenth of a millisecond. */
const ROWS_AT_ONCE = 25;

/** Converts rows for an answer; other work runs in between, after every `atOnce` rows. */
export async function inPieces<Row, Item>(
  rows: readonly Row[],
  { pause }: Pick<RouteRequest, "pause">,
  toItem: (row: Row) => Item,
  atOnce = ROWS_AT_ONCE,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (const [index, row] of rows.entries()) {
    if (index > 0 && index % atOnce === 0) await pause();
    items.push(toItem(row));
  }
  return items;
}
