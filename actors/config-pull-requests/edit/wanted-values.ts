import { listStationChanges, toName } from "./station-changes.js";
import type { EditRefusal, WantedStation } from "./station-edit.js";
import { writeOnOneLine, writeWanted } from "./value-text.js";

/**
 * Adds the values to set by hand to a refusal that has no such values. Adds one of these:
 * - the value of the changed attribute that the refusal concerns;
 * - the value of the only change, without its name, if the refusal concerns no attribute;
 * - in all other cases, the values of all changes with their names.
 */
export function withWanted(refusal: EditRefusal, { live, wanted }: WantedStation): EditRefusal {
  if (refusal.wanted !== null) return refusal;
  const whole = listStationChanges(live, wanted, () => false);
  const parts = listStationChanges(live, wanted, () => true);
  const own = [...whole, ...parts].find((change) => toName(change) === refusal.attribute);
  const [only] = whole;
  if (own !== undefined) return { ...refusal, wanted: writeWanted(own.now) };
  if (only === undefined) return refusal;
  if (whole.length === 1 && refusal.attribute === null) {
    return { ...refusal, attribute: toName(only), wanted: writeWanted(only.now) };
  }
  const lines = whole.map((change) => `${toName(change)} = ${writeOnOneLine(change.now)}`);
  return { ...refusal, wanted: lines.join("\n") };
}
