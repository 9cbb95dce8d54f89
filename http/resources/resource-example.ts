import type { Kind } from "../../actors/resources/kind.js";
import { EXAMPLE_ULID } from "../wire/route.js";
import { exampleBodyOf } from "./kind-examples.js";
import { takeOut } from "./prepare.js";

/** The holder's part of example addresses. */
const holderAddress = { none: "", workspace: "acme", team: "core", station: "core/dev/work" } as const;

/**
 * Returns an example body that creates a resource of the kind, for the documentation. Undefined if the documentation
 * should derive one from the schema.
 */
export function bodyExampleOf(kind: Kind): unknown {
  return exampleBodyOf(kind.name)?.(1);
}

/**
 * Returns the resource that the example body creates, as responses contain it, without the fields that the kind adds.
 * Undefined if there is no example body.
 */
export function representationExampleOf(kind: Kind): unknown {
  const body = bodyExampleOf(kind);
  if (body === undefined) return undefined;
  const parsed = kind.schema.safeParse(body);
  if (!parsed.success) throw new Error(`the example of a ${kind.name} is not one: ${parsed.error.message}`);
  const fields = kind.hidden.reduce((rest, { path }) => takeOut(rest, path.split(".")).rest, parsed.data);
  return {
    id: `${kind.idPrefix}_${EXAMPLE_ULID}`,
    version: 1,
    address: kind.address(parsed.data, holderAddress[kind.heldBy]),
    ...fields,
    warnings: [],
  };
}
