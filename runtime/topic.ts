declare const tells: unique symbol;

/**
 * A topic of a partition's change feed, `<kind>/<id>`: what it is about. What is told under it is plain data, known to
 * the compiler alone.
 */
export interface Topic<in Data> {
  readonly name: string;
  readonly [tells]?: (data: Data) => void;
}

/** What is told under a topic. */
export interface ChangeEntry {
  readonly topic: string;
  readonly data: unknown;
}

/** The topics of what is of a kind, by its id. Several areas may tell of one kind, each of its own. */
export function topic<Data>(kind: string): (id: string) => Topic<Data> {
  return (id) => ({ name: `${kind}/${id}` });
}

/** What a table tells of a row. */
export function entryOf<Data>({ name }: Topic<Data>, data: NoInfer<Data>): ChangeEntry {
  return { topic: name, data };
}
