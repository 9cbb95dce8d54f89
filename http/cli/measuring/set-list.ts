import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { toTable } from "../command/table.js";
import { parseCount, toPercent } from "./figures.js";
import { findPlace, type PlaceOptions } from "./place.js";
import { listSets } from "./sets.js";

type ReplaySet = Schema<"ReplaySet">;

/** Options of lists. */
export interface ListOptions extends PlaceOptions {
  readonly limit: string;
}

/** Lists the sets of a team, or of a station, newest first. */
export async function listReplaySets(context: Context, options: ListOptions): Promise<void> {
  const limit = parseCount(options.limit, "--limit");
  const all = await readSets(context, options);
  const items = all.slice(0, limit);
  context.show({ items, hasMore: all.length > items.length }, () =>
    items.length === 0
      ? ['no replay sets: make one with signalbox set add --new "A name" last:20']
      : toTable(
          context.terminal,
          [
            { title: "name", of: ({ name }: ReplaySet) => name, isFlexible: true },
            { title: "station", of: ({ stationKey, stationLeft }) => (stationLeft ? "removed" : stationKey) },
            { title: "runs", of: ({ entries }) => entries.length },
            { title: "guards", of: ({ guardsChanges }) => (guardsChanges ? "yes" : null) },
            {
              title: "live",
              of: ({ health }) => (health.saturation === null ? null : toPercent(health.saturation.rate)),
            },
            { title: "id", of: ({ id }) => id },
          ],
          items,
        ),
  );
  if (all.length > items.length) context.terminal.note(`${all.length - items.length} more: give --limit`);
}

async function readSets(context: Context, options: ListOptions): Promise<readonly ReplaySet[]> {
  const { client, signal } = context;
  if (options.line === undefined && options.station === undefined) return listSets(context, await context.names.team());
  const { path } = await findPlace(context, options);
  const { items } = await client.get("/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/replay-sets", {
    path,
    signal,
  });
  return items;
}
