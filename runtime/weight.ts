/** The weight of a value that is no text and no bytes, and of each part beside its text. */
const PART_WEIGHT = 16;

/**
 * Estimates how many bytes a plain value takes: bytes, characters of text unless `lengthOf` says otherwise, and
 * {@link PART_WEIGHT} for each part. Stops counting once it is more than `most`.
 */
export function estimateWeight(value: unknown, most = Number.POSITIVE_INFINITY, lengthOf = characters): number {
  if (typeof value === "string") return PART_WEIGHT + lengthOf(value);
  if (typeof value === "bigint") return PART_WEIGHT + value.toString(16).length / 2;
  if (typeof value !== "object" || value === null) return PART_WEIGHT;
  if (ArrayBuffer.isView(value)) return PART_WEIGHT + value.byteLength;
  let weight = PART_WEIGHT;
  for (const name in value) {
    if (weight > most) break;
    weight += estimateWeight(value[name as keyof typeof value], most, lengthOf);
  }
  return weight;
}

function characters(text: string): number {
  return text.length;
}
