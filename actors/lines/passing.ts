import type { StationBlock, StationBody } from "./station.js";

/**
 * Completes `passesTo` at stations that omit it. `previous` holds the stored stations, or is null on create.
 *
 * - If all stations of the body omit `passesTo`, each station passes its tasks to the next one. For a stored line,
 *   this applies only if one of the stored stations passes tasks on.
 * - Otherwise an omitted `passesTo` is empty.
 *
 * So a stored line without passing stays unchanged. If a body sets `passesTo` at one station, it must set it at every
 * station that passes tasks on.
 */
export function fillPasses(
  stations: readonly StationBlock[],
  previous: readonly StationBlock[] | null,
): readonly StationBody[] {
  const passesOn = previous === null || previous.some(({ passesTo = [] }) => passesTo.length > 0);
  const isFilled = passesOn && stations.every(({ passesTo }) => passesTo === undefined);
  return stations.map((station, index) => {
    const next = isFilled ? stations.slice(index + 1, index + 2) : [];
    return { ...station, passesTo: station.passesTo ?? next.map(({ key }) => key) };
  });
}

/**
 * Completes a station that is proposed without the rest of its line. If the station omits `passesTo`, it gets the value
 * of the live station.
 */
export function passingAs(block: StationBlock, { passesTo }: Pick<StationBody, "passesTo">): StationBody {
  return { ...block, passesTo: block.passesTo ?? passesTo };
}

/**
 * Finds the stations that no task reaches from the line's first station. `isPassedTo` says whether any other station
 * passes tasks to such a station. The result ignores tasks that a person or an integration places at a station.
 */
export function unreachedStations(
  stations: readonly StationBlock[],
): readonly { readonly index: number; readonly key: string; readonly isPassedTo: boolean }[] {
  const byKey = new Map(stations.map((station) => [station.key, station]));
  const reached = new Set(stations.slice(0, 1).map(({ key }) => key));
  // An iteration over a set also visits members that are added during the iteration.
  for (const key of reached) for (const to of byKey.get(key)?.passesTo ?? []) reached.add(to);
  return stations.flatMap(({ key }, index) => {
    if (reached.has(key)) return [];
    return [{ index, key, isPassedTo: stations.some(({ passesTo = [] }) => passesTo.includes(key)) }];
  });
}
