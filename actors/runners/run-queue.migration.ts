import { eachRow, putRow, removeRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";

const QUEUE = "queued-run";

/** Adds the era 0 to the keys of queued runs. The keys were `[line, queuedAtMs, run]`. */
export const queueEraWalks: readonly Walk[] = [
  eachRow(QUEUE, (row, place) => {
    const [line, ...behind] = place.id;
    if (line === undefined || place.id.length !== 3) return [];
    return [removeRow(place, QUEUE, place.id), putRow(place, QUEUE, [line, 0, ...behind], row)];
  }),
];
