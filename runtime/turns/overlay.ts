import { rowSpace } from "../../storage/keys.js";
import type { Change, Key, KeyPart } from "../../storage/store.js";

/** The latest change of each key in one table, or in one space without tables, by {@link keyName}. */
type Group = Map<string, Change>;

/** The location of a key's group, or of a range prefix. Undefined parts match every value. */
interface KeyLocation {
  readonly partition: KeyPart | undefined;
  readonly space: KeyPart | undefined;
  readonly table: KeyPart | undefined;
}

/** The changes of a batch, indexed by key and table. */
export class Overlay {
  readonly #partitions = new Map<KeyPart | undefined, Map<KeyPart | undefined, Map<KeyPart | undefined, Group>>>();
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Number of keys with a change. */
  get size(): number {
    return this.#size;
  }

  get(key: Key): Change | undefined {
    const group = this.#findGroup(key);
    return group === undefined || group.size === 0 ? undefined : group.get(keyName(key));
  }

  /** Stores a change and returns the earlier change of the same key; undefined if there was none. */
  set(change: Change): Change | undefined {
    const group = this.#group(change.key);
    const name = keyName(change.key);
    const before = group.get(name);
    group.set(name, change);
    if (before === undefined) this.#size += 1;
    return before;
  }

  /** Removes a change whose key had no earlier change. */
  unset({ key }: Change): void {
    if (this.#group(key).delete(keyName(key))) this.#size -= 1;
  }

  /** Whether the overlay may hold changes to keys below the prefix. */
  mayHoldBelow(prefix: Key): boolean {
    if (this.#size === 0) return false;
    if (prefix.length < 2 || (prefix.length < 3 && prefix[1] === rowSpace)) return true;
    const group = this.#findGroup(prefix);
    return group !== undefined && group.size > 0;
  }

  /** Yields the groups that may contain keys below the prefix. */
  *groupsBelow(prefix: Key): IterableIterator<Group> {
    if (this.#size === 0) return;
    const { partition, space, table } = locateGroup(prefix);
    for (const spaces of matching(this.#partitions, partition)) {
      for (const tables of matching(spaces, space)) yield* matching(tables, table);
    }
  }

  changes(): Change[] {
    const changes: Change[] = [];
    for (const group of this.groupsBelow([])) for (const change of group.values()) changes.push(change);
    return changes;
  }

  #findGroup(key: Key): Group | undefined {
    return this.#size === 0 ? undefined : this.#partitions.get(key[0])?.get(key[1])?.get(getTable(key));
  }

  #group(key: Key): Group {
    const spaces = getOrCreateMap(this.#partitions, key[0]);
    return getOrCreateMap(getOrCreateMap(spaces, key[1]), getTable(key));
  }
}

/** The last key passed to `keyName`, and its name. A read looks up the same key in several overlays. */
let lastKey: Key | null = null;
let lastName = "";

/** Returns the name of a key, unique within its group. */
export function keyName(key: Key): string {
  if (key === lastKey) return lastName;
  lastName = toName(key);
  lastKey = key;
  return lastName;
}

function toName(key: Key): string {
  const from = key[1] === rowSpace ? 3 : 2;
  const first = key[from];
  if (key.length === from + 1 && typeof first === "string") return first;
  let name = "";
  for (let index = from; index < key.length; index++) {
    const part = key[index];
    name += typeof part === "number" ? `\0n${part}` : `\0s${part}`;
  }
  return name;
}

/** Returns the table of a key; an empty text outside the row space, which is the only space with tables. */
function getTable(key: Key): KeyPart | undefined {
  return key[1] === rowSpace ? key[2] : "";
}

function locateGroup(prefix: Key): KeyLocation {
  const [partition, space, table] = prefix;
  if (space === undefined) return { partition, space, table };
  return { partition, space, table: space === rowSpace ? table : "" };
}

function matching<Value>(by: Map<KeyPart | undefined, Value>, part: KeyPart | undefined): Iterable<Value> {
  if (part === undefined) return by.values();
  const found = by.get(part);
  return found === undefined ? [] : [found];
}

/** Returns the map under a name, and creates it if needed. */
export function getOrCreateMap<Name, Below, Value>(by: Map<Name, Map<Below, Value>>, name: Name): Map<Below, Value> {
  const known = by.get(name);
  if (known !== undefined) return known;
  const made = new Map<Below, Value>();
  by.set(name, made);
  return made;
}
