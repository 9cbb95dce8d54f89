import { CoverTrace, durableVersion } from "../../runtime/rows/covered-reading.js";
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
  /** The name of the list that was read last. */
  latest: string;
  bytes: number;
}

/** A list that is being made of rows of this version. */
interface Making {
  readonly version: number;
  readonly text: Promise<Uint8Array>;
}

/**
 * Texts of whole lists, so that a list that is read again and again is made once. A text is kept while no row changes
 * that it may have been made from (a change is one once it may be durable), and only where it was made from rows whose
 * changes are known. Whoever asks for it while it is made of the same rows waits for it.
 */
export class KeptLists {
  readonly #reading: Reading;
  /** By workspace, those that were not read for longest first. */
  #workspaces = new Map<string, Kept>();
  #latest = "";
  /** By workspace and name. */
  readonly #making = new Map<string, Making>();

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /** Drops all texts, also those that are being made: something other than rows has changed that they follow from. */
  clear(): void {
    this.#workspaces = new Map();
    this.#making.clear();
  }

  /** The text with this name if it is kept, else undefined. */
  find(workspaceId: string, name: string): Uint8Array | undefined {
    const version = durableVersion(this.#reading, workspaceId);
    const kept = version === null ? undefined : this.#workspaces.get(workspaceId);
    if (kept?.version !== version) return undefined;
    const text = kept?.texts.get(name);
    if (kept === undefined || text === undefined) return undefined;
    if (this.#latest !== workspaceId) moveLast(this.#workspaces, workspaceId, kept);
    this.#latest = workspaceId;
    if (kept.latest !== name) moveLast(kept.texts, name, text);
    kept.latest = name;
    return text;
  }

  /**
   * Makes the text with this name, and keeps it. `make` reads through what it is given alone; what it makes has to be the
   * same for all who may ask for it.
   */
  make(workspaceId: string, name: string, make: (trace: CoverTrace) => Promise<Uint8Array>): Promise<Uint8Array> {
    const version = durableVersion(this.#reading, workspaceId);
    const key = `${workspaceId} ${name}`;
    const making = this.#making.get(key);
    if (making !== undefined && making.version === version) return making.text;
    const trace = new CoverTrace(this.#reading, workspaceId);
    const text = make(trace);
    if (version === null) return text;
    const made = { version, text: this.#made({ workspaceId, name, version }, text, trace) };
    this.#making.set(key, made);
    const end = () => {
      if (this.#making.get(key) === made) this.#making.delete(key);
    };
    made.text.then(end, end);
    return made.text;
  }

  /** Keeps a text once it is made: in slices, between which rows may have changed. */
  async #made(
    { workspaceId, name, version }: { readonly workspaceId: string; readonly name: string; readonly version: number },
    making: Promise<Uint8Array>,
    trace: CoverTrace,
  ): Promise<Uint8Array> {
    const workspaces = this.#workspaces;
    const text = await making;
    const isOfOneVersion = workspaces === this.#workspaces && durableVersion(this.#reading, workspaceId) === version;
    if (isOfOneVersion && trace.isCovered && text.length <= MAX_BYTES) this.#keep(workspaceId, name, version, text);
    return text;
  }

  #keep(workspaceId: string, name: string, version: number, text: Uint8Array): void {
    const before = this.#workspaces.get(workspaceId);
    const kept =
      before?.version === version ? before : { version, texts: new Map<string, Uint8Array>(), bytes: 0, latest: name };
    kept.latest = name;
    this.#latest = workspaceId;
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
