import { rowSpace } from "../storage/keys.js";
import type { Change, Key, KeyPart } from "../storage/store.js";

/** The changes of one table, or of one space that holds no tables, by the rest of their keys: the latest of each. */
type Group = Map<string, Change>;

/** Which group a key or a range's prefix lies in; undefined where the prefix is too short to tell. */
interface KeyLocation {
  readonly partition: KeyPart | undefined;
  readonly space: KeyPart | undefined;
  readonly table: KeyPart | undefined;
}

/** Changes of a batch, found by key and by the table they lie in. */
export class Overlay {
  readonly #partitions = new Map<KeyPart | undefined, Map<KeyPart | undefined, Map<KeyPart | undefined, Group>>>();
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  get(key: Key): Change | undefined {
    const group = this.#groupOf(key);
    return group === undefined || group.size === 0 ? undefined : group.get(keyName(key));
  }

  /** Keeps a change and gives back the one of the same key before it. */
  set(change: Change): Change | undefined {
    const group = this.#group(change.key);
    const name = keyName(change.key);
    const before = group.get(name);
    group.set(name, change);
    if (before === undefined) this.#size += 1;
    return before;
  }

  /** Takes back a change that followed none. */
  unset({ key }: Change): void {
    if (this.#group(key).delete(keyName(key))) this.#size -= 1;
  }

  /** Whether keys below the prefix may lie here. */
  mayHoldBelow(prefix: Key): boolean {
    if (this.#size === 0) return false;
    if (prefix.length < 2 || (prefix.length < 3 && prefix[1] === rowSpace)) return true;
    const group = this.#groupOf(prefix);
    return group !== undefined && group.size > 0;
  }

  /** The groups in which keys below the prefix may lie. */
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

  #groupOf(key: Key): Group | undefined {
    return this.#size === 0 ? undefined : this.#partitions.get(key[0])?.get(key[1])?.get(getTable(key));
  }

  #group(key: Key): Group {
    const spaces = getOrCreateMap(this.#partitions, key[0]);
    return getOrCreateMap(getOrCreateMap(spaces, key[1]), getTable(key));
  }
}

/** The part of a name that tells keys of one group apart. No two keys of a group have the same. */
export function keyName(key: Key): string {
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

/** Only the row space is divided into tables. */
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

/** The map that stands under a name, made when there is none. */
export function getOrCreateMap<Name, Below, Value>(by: Map<Name, Map<Below, Value>>, name: Name): Map<Below, Value> {
  const known = by.get(name);
  if (known !== undefined) return known;
  const made = new Map<Below, Value>();
  by.set(name, made);
  return made;
}
