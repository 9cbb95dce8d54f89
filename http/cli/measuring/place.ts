import type { Schema } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import type { NamedTeam } from "../command/names.js";

/** The options that choose a station. */
export interface PlaceOptions extends CommonOptions {
  readonly line?: string;
  readonly station?: string;
}

/** A station in its line and team. */
export interface Place {
  readonly team: NamedTeam;
  readonly line: Schema<"Line">;
  readonly stationKey: string;
  /** The path parameters of the station's operations. */
  readonly path: { readonly teamId: string; readonly lineId: string; readonly stationId: string };
  /** The keys of team, line and station, such as `core/fix/work`. */
  readonly address: string;
}

/** Finds the station by its key or id. Default: the first work station of the line. Remembers the line. */
export async function findPlace(context: Context, { line: name, station: wanted }: PlaceOptions): Promise<Place> {
  const { team, line } = await context.names.line(name);
  const found = line.stations.find(({ id, key, kind }) =>
    wanted === undefined ? kind === "work" : key === wanted || id === wanted,
  );
  const address = `${team.key}/${line.key}`;
  if (found === undefined) {
    const keys = line.stations.map(({ key }) => key).join(", ");
    throw new CommandError(
      wanted === undefined
        ? `the line ${address} has no work station`
        : `the line ${address} has no station ${wanted}; there are: ${keys}`,
    );
  }
  context.remember({ workspace: team.workspace.slug, team: team.key, line: line.key });
  return {
    team,
    line,
    stationKey: found.key,
    path: { teamId: team.id, lineId: line.id, stationId: found.id ?? "" },
    address: `${address}/${found.key}`,
  };
}
