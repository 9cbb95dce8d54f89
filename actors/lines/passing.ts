import type { StationBlock, StationBody } from "./station.js";

/**
 * The stations of a line with `passesTo` filled in where a body omits it. A new line whose stations all omit it passes
 * each task to the next station, and so does an update of a line that passes tasks on already. Otherwise an omitted
 * `passesTo` is empty: a stored line that passes to no station keeps its meaning, and a body that names some names all.
 * `previous` holds the stored stations, null on create.
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

/** A block that is proposed for a station by itself: an omitted `passesTo` is the one of the live station. */
export function passingAs(block: StationBlock, { passesTo }: Pick<StationBody, "passesTo">): StationBody {
  return { ...block, passesTo: block.passesTo ?? passesTo };
}

/**
 * The stations that no task reaches from the line's first station, each with whether any station passes to it. Tasks
 * that a person or an integration places at a station are not considered.
 */
export function unreachedStations(
  stations: readonly StationBlock[],
): readonly { readonly index: number; readonly key: string; readonly isPassedTo: boolean }[] {
  const byKey = new Map(stations.map((station) => [station.key, station]));
  const reached = new Set(stations.slice(0, 1).map(({ key }) => key));
  // A set visits what is added to it while it is iterated.
  for (const key of reached) for (const to of byKey.get(key)?.passesTo ?? []) reached.add(to);
  return stations.flatMap(({ key }, index) => {
    if (reached.has(key)) return [];
    return [{ index, key, isPassedTo: stations.some(({ passesTo = [] }) => passesTo.includes(key)) }];
  });
}
