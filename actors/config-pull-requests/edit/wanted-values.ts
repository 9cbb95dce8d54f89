import { listStationChanges, nameOf } from "./station-changes.js";
import type { EditRefusal, WantedStation } from "./station-edit.js";
import { writeOnOneLine, writeWanted } from "./value-text.js";

/**
 * A refusal with the value to set by hand, where it names none: that of its attribute; of a refusal that is about no
 * attribute that changes, all values that change, each with its name, or the only one.
 */
export function withWanted(refusal: EditRefusal, { live, wanted }: WantedStation): EditRefusal {
  if (refusal.wanted !== null) return refusal;
  const whole = listStationChanges(live, wanted, () => false);
  const parts = listStationChanges(live, wanted, () => true);
  const own = [...whole, ...parts].find((change) => nameOf(change) === refusal.attribute);
  const [only] = whole;
  if (own !== undefined) return { ...refusal, wanted: writeWanted(own.now) };
  if (only === undefined) return refusal;
  if (whole.length === 1 && refusal.attribute === null) {
    return { ...refusal, attribute: nameOf(only), wanted: writeWanted(only.now) };
  }
  const lines = whole.map((change) => `${nameOf(change)} = ${writeOnOneLine(change.now)}`);
  return { ...refusal, wanted: lines.join("\n") };
}
