/** The base weight of every value, in bytes. The length of a text or of bytes is added to it. */
const PART_WEIGHT = 16;

/**
 * Estimates the size of a plain value in bytes: the length of all bytes and texts, plus {@link PART_WEIGHT} for each
 * part. `toLength` measures texts; by default it counts characters. Stops early when the sum exceeds `max`.
 */
export function estimateWeight(value: unknown, max = Number.POSITIVE_INFINITY, toLength = characters): number {
  if (typeof value === "string") return PART_WEIGHT + toLength(value);
  if (typeof value === "bigint") return PART_WEIGHT + value.toString(16).length / 2;
  if (typeof value !== "object" || value === null) return PART_WEIGHT;
  if (ArrayBuffer.isView(value)) return PART_WEIGHT + value.byteLength;
  let weight = PART_WEIGHT;
  for (const name in value) {
    if (weight > max) break;
    weight += estimateWeight(value[name as keyof typeof value], max, toLength);
  }
  return weight;
}

function characters(text: string): number {
  return text.length;
}
