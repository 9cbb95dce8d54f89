import { CoverTrace, coveredVersion } from "../../runtime/covered-reading.js";
import type { Runtime } from "../../runtime/runtime.js";

type Reading = Runtime["reading"];

/** Most workspaces whose lists are kept, and most bytes of one's. The lists that were not read for longest go first. */
const MAX_WORKSPACES = 64;
const MAX_BYTES = 512 * 1024;

/** The lists of one workspace. */
interface Kept {
  /** The version of the rows that they were made from. */
  readonly version: number;
  readonly texts: Map<string, Uint8Array>;
  bytes: number;
}

/**
 * Texts of whole lists, so that a list that is read again and again is made once. A text is kept while no row changes
 * that it may have been made from, and only where it was made from rows whose changes are known.
 */
export class KeptLists {
  readonly #reading: Reading;
  /** By workspace, those that were not read for longest first. */
  readonly #workspaces = new Map<string, Kept>();

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /**
   * The text with this name, made where it is not kept. `make` reads through what it is given alone; what it makes has to
   * be the same for all who may ask for it.
   */
  async textOf(
    workspaceId: string,
    name: string,
    make: (reading: Reading) => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const version = coveredVersion(this.#reading, workspaceId);
    const kept = version === null ? undefined : this.#find(workspaceId, name, version);
    if (kept !== undefined) return kept;
    const trace = new CoverTrace(this.#reading, workspaceId);
    const text = await make(trace);
    // It was made in slices, between which rows may have changed.
    const isOfOneVersion = version !== null && coveredVersion(this.#reading, workspaceId) === version;
    if (isOfOneVersion && trace.isCovered && text.length <= MAX_BYTES) this.#keep(workspaceId, name, version, text);
    return text;
  }

  #find(workspaceId: string, name: string, version: number): Uint8Array | undefined {
    const kept = this.#workspaces.get(workspaceId);
    if (kept?.version !== version) return undefined;
    const text = kept.texts.get(name);
    if (text === undefined) return undefined;
    moveLast(this.#workspaces, workspaceId, kept);
    moveLast(kept.texts, name, text);
    return text;
  }

  #keep(workspaceId: string, name: string, version: number, text: Uint8Array): void {
    const before = this.#workspaces.get(workspaceId);
    const kept = before?.version === version ? before : { version, texts: new Map<string, Uint8Array>(), bytes: 0 };
    moveLast(this.#workspaces, workspaceId, kept);
    kept.bytes += text.length - (kept.texts.get(name)?.length ?? 0);
    moveLast(kept.texts, name, text);
    for (const [oldest, { length }] of kept.texts) {
      if (kept.bytes <= MAX_BYTES) break;
      kept.texts.delete(oldest);
      kept.bytes -= length;
    }
    const [oldest] = this.#workspaces.keys();
    if (this.#workspaces.size > MAX_WORKSPACES && oldest !== undefined) this.#workspaces.delete(oldest);
  }
}

function moveLast<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
}
