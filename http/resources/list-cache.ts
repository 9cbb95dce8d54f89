import { LRUCache } from "lru-cache";
import { CoverTrace, durableVersion } from "../../runtime/rows/covered-reading.js";
import type { Runtime } from "../../runtime/runtime.js";

type Reading = Runtime["reading"];

/**
 * Maximum number of workspaces with cached lists, and maximum size of one workspace's lists in bytes. The least
 * recently read lists are evicted first.
 */
const MAX_WORKSPACES = 64;
const MAX_BYTES = 512 * 1024;

/** The cached lists of one workspace. */
interface CachedLists {
  /** The version of the rows that the lists were created from. */
  readonly version: number;
  readonly texts: LRUCache<string, Uint8Array>;
}

/** A list that is being created from rows of this version. */
interface Making {
  readonly version: number;
  readonly text: Promise<Uint8Array>;
}

/**
 * Caches the JSON texts of whole lists, so that repeated reads create a list only once.
 *
 * 1. A text is valid until a row changes that it may depend on. A change counts as soon as it may be durable.
 * 2. A text is cached only if it was created from rows whose changes are tracked.
 * 3. Concurrent requests for the same text share one creation.
 */
export class ListCache {
  readonly #reading: Reading;
  #workspaces = createWorkspaces();
  /** The lists that are being created, by workspace and name. */
  readonly #making = new Map<string, Making>();

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /**
   * Drops all texts, including those that are being created. Call it when something changed that is not stored in a row
   * but affects the texts.
   */
  clear(): void {
    this.#workspaces = createWorkspaces();
    this.#making.clear();
  }

  /** Returns the cached text with this name, or undefined. */
  find(workspaceId: string, name: string): Uint8Array | undefined {
    const version = durableVersion(this.#reading, workspaceId);
    const cached = version === null ? undefined : this.#workspaces.get(workspaceId);
    return cached?.version === version ? cached?.texts.get(name) : undefined;
  }

  /**
   * Creates the text with this name by calling `make`, and caches the text. `make` must read only through the trace
   * that it receives. Its result must be the same for everyone who may request the text.
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

  /** Waits for a text that is being created. Caches the text, unless rows have changed since its creation started. */
  async #made(
    { workspaceId, name, version }: { readonly workspaceId: string; readonly name: string; readonly version: number },
    making: Promise<Uint8Array>,
    trace: CoverTrace,
  ): Promise<Uint8Array> {
    const workspaces = this.#workspaces;
    const text = await making;
    const isOfOneVersion = workspaces === this.#workspaces && durableVersion(this.#reading, workspaceId) === version;
    if (isOfOneVersion && trace.isCovered) this.#keep(workspaceId, name, version, text);
    return text;
  }

  #keep(workspaceId: string, name: string, version: number, text: Uint8Array): void {
    let cached = this.#workspaces.get(workspaceId);
    if (cached?.version !== version) {
      // A text above the limit is not cached.
      cached = { version, texts: new LRUCache({ maxSize: MAX_BYTES, sizeCalculation: ({ length }) => length }) };
      this.#workspaces.set(workspaceId, cached);
    }
    cached.texts.set(name, text);
  }
}

function createWorkspaces(): LRUCache<string, CachedLists> {
  return new LRUCache({ max: MAX_WORKSPACES });
}
