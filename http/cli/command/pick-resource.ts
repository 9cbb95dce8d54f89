import { CommandError } from "./exit-codes.js";
import { pickId } from "./id-prefix.js";

/** The ways in which people name the resources of a kind. */
interface NamedKind<Resource> {
  /** The kind, such as `hook`. */
  readonly what: string;
  /** Where the resources are, such as `the team core`. */
  readonly where: string;
  readonly key: (resource: Resource) => string;
  /** Advice for an empty list, such as `create one with signalbox hook create`. */
  readonly ifNone?: string;
}

/**
 * Picks a resource by its key, its id or a unique prefix of its id. Without a name, picks the only resource. Throws a
 * {@link CommandError} if no resource or more than one matches.
 */
export function pickResource<Resource extends { readonly id: string }>(
  { what, where, key, ifNone }: NamedKind<Resource>,
  listed: readonly Resource[],
  name: string | undefined,
): Resource {
  const [only, second] = listed;
  if (only === undefined) throw new CommandError(`${where} has no ${what}${ifNone === undefined ? "" : `: ${ifNone}`}`);
  const keys = listed.map(key).join(", ");
  if (name === undefined) {
    if (second === undefined) return only;
    throw new CommandError(`${where} has several ${what}s (${keys}): name one`);
  }
  const found = listed.find((resource) => key(resource) === name) ?? findById(listed, name);
  if (found !== undefined) return found;
  throw new CommandError(`${where} has no ${what} ${name}; it has: ${keys}`);
}

function findById<Resource extends { readonly id: string }>(
  listed: readonly Resource[],
  name: string,
): Resource | undefined {
  const ids = listed.map(({ id }) => id);
  const picked = pickId(name, ids);
  return listed.find(({ id }) => id === picked);
}
