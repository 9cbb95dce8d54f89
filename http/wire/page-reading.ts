import type { Cursor, Slice } from "../../actors/tables/page-source.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { RouteRequest } from "./route.js";

/** Reads one slice of a page. It starts at `cursor`, the end of the previous slice; null for the start of the page. */
export type ReadSlice<Row> = (reading: Runtime["reading"], cursor: Cursor<Row> | null) => Slice<Row>;

/**
 * Reads the rows of a page in slices, from one view. Other work runs between slices. If other work is waiting, it also
 * runs before the first slice and after the last. Throws the signal's abort reason if the request is aborted.
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

/** Number of rows to convert between pauses: about 0.1 ms of work. */
const ROWS_AT_ONCE = 25;

/** Converts rows for a response. Other work runs after every `atOnce` rows. */
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
