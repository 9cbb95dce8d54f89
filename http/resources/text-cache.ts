import { LRUCache } from "lru-cache";
import type { VisibleResource } from "../../actors/access/visibility/resource.queries.js";
import { writeJson } from "../../actors/exact-json.js";
import type { Kind } from "../../actors/resources/kind.js";
import { toRepresentation } from "../../actors/resources/representation.js";
import { CoverTrace, coveredVersion } from "../../runtime/rows/covered-reading.js";
import type { Runtime } from "../../runtime/runtime.js";

/**
 * Maximum length of all texts together, in characters. Beyond it the least recently read texts are evicted. A character
 * takes at most two bytes.
 */
const MAX_CHARACTERS = 8 * 1024 * 1024;
/** Maximum length of a cached text, in characters. */
const MAX_TEXT = 64 * 1024;

/** A resource as responses contain it. */
export interface ResourceText {
  readonly json: string;
  readonly headers: { readonly etag: string };
}

interface CachedText extends ResourceText {
  readonly row: VisibleResource;
  /**
   * The version of the rows that the warnings were created from. Null for a kind without warnings, whose text depends
   * only on its own row.
   */
  readonly version: number | null;
}

/**
 * Caches the JSON texts of resources, so that a resource that is read repeatedly is encoded once.
 *
 * 1. A text is cached for one row object. It is valid while readings return that same object.
 * 2. A text with warnings is cached only if the warnings come from rows whose changes are tracked. It is valid until a
 *    tracked row of the workspace changes.
 */
export class TextCache {
  readonly #reading: Runtime["reading"];
  /** The cached texts, by resource id. */
  readonly #texts = new LRUCache<string, CachedText>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ json }) => json.length,
  });

  constructor(reading: Runtime["reading"]) {
    this.#reading = reading;
  }

  /** Drops all texts. Call it when something changed that is not stored in a row but affects warnings. */
  clear(): void {
    this.#texts.clear();
  }

  /** Returns the cached text of the row's resource, or undefined. */
  find(row: VisibleResource): ResourceText | undefined {
    const cached = this.#texts.get(row.id);
    if (cached?.row !== row) return undefined;
    const isValid = cached.version === null || cached.version === coveredVersion(this.#reading, row.workspaceId);
    return isValid ? cached : undefined;
  }

  /**
   * Encodes the row's resource, and reads other rows through `trace`. Caches the text if rule 2 of {@link TextCache}
   * allows that.
   */
  make(kind: Kind, row: VisibleResource, trace = new CoverTrace(this.#reading, row.workspaceId)): ResourceText {
    const version = kind.warnings === undefined ? null : coveredVersion(this.#reading, row.workspaceId);
    const json = writeJson(toRepresentation(kind, row, trace));
    const cached = { row, version, json, headers: { etag: `"${row.version}"` } };
    const isKnown = kind.warnings === undefined || (version !== null && trace.isCovered);
    if (isKnown && json.length <= MAX_TEXT) this.#texts.set(row.id, cached);
    return cached;
  }
}
