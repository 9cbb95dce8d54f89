import { writeJson } from "../../actors/exact-json.js";
import type { RouteRequest } from "./route.js";

/**
 * Collects items and their JSON until the JSON has `maxBytes`. The first item is always accepted, whatever its size.
 */
export class BoundedList<Item extends object> {
  readonly #items: Item[] = [];
  readonly #texts: string[] = [];
  #bytesLeft: number;

  constructor(maxBytes: number) {
    this.#bytesLeft = maxBytes;
  }

  get items(): Item[] {
    return this.#items;
  }

  /** The JSON of the items, as an array. */
  get json(): string {
    return `[${this.#texts.join(",")}]`;
  }

  /**
   * Adds an item and returns true. Returns false, and adds nothing, if the item needs more than the remaining bytes.
   */
  add(item: Item): boolean {
    const text = writeJson(item);
    this.#bytesLeft -= Buffer.byteLength(text);
    if (this.#bytesLeft < 0 && this.#items.length > 0) return false;
    this.#items.push(item);
    this.#texts.push(text);
    return true;
  }
}

/** Number of items to encode between pauses. 100 items of a replay with judged copies take about a millisecond. */
const ITEMS_AT_ONCE = 100;

/**
 * Encodes items as a JSON array, and lets other work run after every `atOnce` items. The string's parts are joined in
 * memory only when the caller sends the string (V8).
 */
export async function toJsonList(
  items: readonly object[],
  { pause }: Pick<RouteRequest, "pause">,
  atOnce = ITEMS_AT_ONCE,
): Promise<string> {
  let text = "[";
  for (let from = 0; from < items.length; from += atOnce) {
    if (from > 0) {
      await pause();
      text += ",";
    }
    text += writeJson(items.slice(from, from + atOnce)).slice(1, -1);
  }
  return `${text}]`;
}
