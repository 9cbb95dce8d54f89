declare const carries: unique symbol;

/**
 * A topic of a partition's change feed, named `<kind>/<id>`. Its entries are plain data. Only the compiler knows their
 * type.
 */
export interface Topic<in out Data> {
  readonly name: string;
  readonly [carries]?: (data: Data) => Data;
}

/** An entry for the change feed. */
export interface ChangeEntry {
  readonly topic: string;
  readonly data: unknown;
}

/**
 * Returns a function that creates the topics of one kind by id. Several areas may publish under one kind, each with its
 * own data type.
 */
export function topic<Data>(kind: string): (id: string) => Topic<Data> {
  return (id) => ({ name: `${kind}/${id}` });
}

/** Creates a type-checked entry of a topic. */
export function toChangeEntry<Data>({ name }: Topic<Data>, data: NoInfer<Data>): ChangeEntry {
  return { topic: name, data };
}

/** The part of a change feed that {@link listenTo} needs; see `Feed.listen`. */
interface Listenable {
  listen(partition: string, topic: string, listener: (entry: { readonly data: unknown }) => void): () => void;
}

/**
 * Calls `listener` with the data of each entry of a topic, as `Feed.listen` does. Returns a function that ends the
 * subscription. All entries under the topic's name must contain `Data`. So use this function only for topic kinds with
 * one data type.
 */
export function listenTo<Data>(
  feed: Listenable,
  partition: string,
  { name }: Topic<Data>,
  listener: (data: NoInfer<Data>) => void,
): () => void {
  return feed.listen(partition, name, ({ data }) => listener(data as Data));
}
