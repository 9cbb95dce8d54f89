import { writeJson } from "../../actors/exact-json.js";
import type { RouteRequest } from "./route.js";

/** Items of a list with their JSON, until these have so many bytes. The first item is taken however long it is. */
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

  /** Adds an item; false when there is no room for it. */
  add(item: Item): boolean {
    const text = writeJson(item);
    this.#bytesLeft -= Buffer.byteLength(text);
    if (this.#bytesLeft < 0 && this.#items.length > 0) return false;
    this.#items.push(item);
    this.#texts.push(text);
    return true;
  }
}

/** Items made into JSON before other work has its turn: of a replay whose copies were judged, about a millisecond. */
const ITEMS_AT_ONCE = 100;

/** Items as a JSON array; other work runs in between. The text is put together once, by whoever sends it. */
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
