import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { type LimitOption, showList } from "../command/list-limit.js";
import { toTable } from "../command/table.js";
import { toPercent } from "./figures.js";
import { findPlace, type PlaceOptions } from "./place.js";
import { listSets } from "./sets.js";

type ReplaySet = Schema<"ReplaySet">;

export interface ListOptions extends PlaceOptions, LimitOption {}

/** Lists the sets of a team, or of a station, newest first. */
export async function listReplaySets(context: Context, options: ListOptions): Promise<void> {
  const all = await readSets(context, options);
  const items = all.slice(0, options.limit);
  const list = { items, hasMore: all.length > items.length };
  showList(context, list, {
    none: isFiltered(options)
      ? "no matching replay sets"
      : 'no replay sets: make one with signalbox set add --new "A name" last:20',
    toLines: () => toTable(context.terminal, columns, items),
  });
}

const columns = [
  { title: "name", of: ({ name }: ReplaySet) => name, isFlexible: true },
  {
    title: "station",
    of: ({ stationKey, stationLeft }: ReplaySet) => (stationLeft ? "removed" : stationKey),
    isFlexible: true,
  },
  { title: "runs", of: ({ entries }: ReplaySet) => entries.length, isMinor: true },
  { title: "guards", of: ({ guardsChanges }: ReplaySet) => (guardsChanges ? "yes" : null) },
  {
    title: "live",
    of: ({ health }: ReplaySet) => (health.saturation === null ? null : toPercent(health.saturation.rate)),
    isMinor: true,
  },
  { title: "id", of: ({ id }: ReplaySet) => id },
];

function isFiltered({ line, station }: ListOptions): boolean {
  return line !== undefined || station !== undefined;
}

async function readSets(context: Context, options: ListOptions): Promise<readonly ReplaySet[]> {
  const { client, signal } = context;
  if (!isFiltered(options)) return listSets(context, await context.names.team());
  const { path } = await findPlace(context, options);
  const { items } = await client.get("/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/replay-sets", {
    path,
    signal,
  });
  return items;
}
