declare const tells: unique symbol;

/**
 * A topic of a partition's change feed, `<kind>/<id>`. Its entries are plain data; only the compiler knows their type.
 */
export interface Topic<in Data> {
  readonly name: string;
  readonly [tells]?: (data: Data) => void;
}

/** An entry for the change feed. */
export interface ChangeEntry {
  readonly topic: string;
  readonly data: unknown;
}

/** The topics of one kind, by id. Several areas may publish under one kind, each with its own data type. */
export function topic<Data>(kind: string): (id: string) => Topic<Data> {
  return (id) => ({ name: `${kind}/${id}` });
}

/** An entry of a topic, type-checked. */
export function entryOf<Data>({ name }: Topic<Data>, data: NoInfer<Data>): ChangeEntry {
  return { topic: name, data };
}
