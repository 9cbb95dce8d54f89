import { CommandError } from "./exit-codes.js";

/** How people name the resources of a kind. */
export interface NamedKind<Resource> {
  /** The kind, such as `hook`. */
  readonly what: string;
  /** Where the resources are, such as `the team core`. */
  readonly where: string;
  readonly key: (resource: Resource) => string;
}

/**
 * Picks a resource by its key, its id or a unique beginning of its id. Without a name, picks the only one. Throws a
 * {@link CommandError} if no resource or several fit.
 */
export function pickResource<Resource extends { readonly id: string }>(
  { what, where, key }: NamedKind<Resource>,
  listed: readonly Resource[],
  name: string | undefined,
): Resource {
  const isNamed = (resource: Resource) => resource.id === name || key(resource) === name;
  const found = name === undefined ? listed : (find(listed, isNamed) ?? listed.filter(({ id }) => id.startsWith(name)));
  const [only, second] = found;
  if (only !== undefined && second === undefined) return only;
  const keys = listed.map(key).join(", ");
  if (listed.length === 0) throw new CommandError(`${where} has no ${what}`);
  if (name === undefined) throw new CommandError(`name the ${what}; ${where} has: ${keys}`);
  if (only === undefined) throw new CommandError(`${where} has no ${what} ${name}; it has: ${keys}`);
  throw new CommandError(`several ${what}s begin with ${name}: ${found.map(key).join(", ")}`);
}

function find<Resource>(
  listed: readonly Resource[],
  fits: (resource: Resource) => boolean,
): readonly Resource[] | undefined {
  const found = listed.find(fits);
  return found === undefined ? undefined : [found];
}
