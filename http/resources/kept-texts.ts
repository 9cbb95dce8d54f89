import type { VisibleResource } from "../../actors/access/visibility/resource.queries.js";
import { writeJson } from "../../actors/exact-json.js";
import type { Kind } from "../../actors/resources/kind.js";
import { toRepresentation } from "../../actors/resources/representation.js";
import { CoverTrace, coveredVersion } from "../../runtime/rows/covered-reading.js";
import type { Runtime } from "../../runtime/runtime.js";

/** Most characters of all texts; beyond it those that were made first go. A character takes two bytes at most. */
const MAX_CHARACTERS = 8 * 1024 * 1024;
/** Longer texts are not kept. */
const MAX_TEXT = 64 * 1024;

/** A resource as answers have it. */
export interface ResourceText {
  readonly json: string;
  readonly headers: { readonly etag: string };
}

interface Kept extends ResourceText {
  readonly row: VisibleResource;
  /** The version of the rows that its warnings were made from; null where it has none, and follows from its own row. */
  readonly version: number | null;
}

/**
 * The JSON texts of resources, so that one that is read again and again is written once.
 *
 * 1. A text is kept for the very row that it was made from, and counts while readings give that row.
 * 2. One with warnings is kept only where they were made from rows whose changes are known, and counts until any of
 *    those changes.
 */
export class KeptTexts {
  readonly #reading: Runtime["reading"];
  /** By the resource's id, those that were made first first. */
  readonly #texts = new Map<string, Kept>();
  #characters = 0;

  constructor(reading: Runtime["reading"]) {
    this.#reading = reading;
  }

  /** Drops all texts: something other than rows has changed that warnings follow from. */
  clear(): void {
    this.#texts.clear();
    this.#characters = 0;
  }

  /** The kept text of the row's resource, or undefined. */
  find(row: VisibleResource): ResourceText | undefined {
    const kept = this.#texts.get(row.id);
    if (kept?.row !== row) return undefined;
    const isValid = kept.version === null || kept.version === coveredVersion(this.#reading, row.workspaceId);
    return isValid ? kept : undefined;
  }

  /** Writes the text of the row's resource through the trace, and keeps it where it may be kept. */
  make(kind: Kind, row: VisibleResource, trace = new CoverTrace(this.#reading, row.workspaceId)): ResourceText {
    const version = kind.warnings === undefined ? null : coveredVersion(this.#reading, row.workspaceId);
    const json = writeJson(toRepresentation(kind, row, trace));
    const kept = { row, version, json, headers: { etag: `"${row.version}"` } };
    const isKnown = kind.warnings === undefined || (version !== null && trace.isCovered);
    if (isKnown && json.length <= MAX_TEXT) this.#keep(row.id, kept);
    return kept;
  }

  #keep(id: string, kept: Kept): void {
    this.#drop(id);
    this.#texts.set(id, kept);
    this.#characters += kept.json.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#characters <= MAX_CHARACTERS) break;
      this.#drop(oldest);
    }
  }

  #drop(id: string): void {
    this.#characters -= this.#texts.get(id)?.json.length ?? 0;
    this.#texts.delete(id);
  }
}
