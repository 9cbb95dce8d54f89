import type { Kind } from "../../actors/resources/kind.js";
import { EXAMPLE_ULID } from "../openapi/examples.js";
import { exampleBodyOf } from "../openapi/kind-examples.js";
import { takeOut } from "./prepare.js";

/** The example of a kind for the documentation. Missing parts are made from the schema. */
export interface ResourceExample {
  readonly body?: unknown;
  /** The resource, without the fields that the kind adds. */
  readonly representation?: unknown;
}

/** The holder's part of example addresses. */
const holderAddress = { none: "", workspace: "acme", team: "core", station: "core/dev/work" } as const;

/** A body that creates a resource of the kind, and the resource as it is read. */
export function exampleOf(kind: Kind): ResourceExample {
  const body = exampleBodyOf(kind.name)?.(1);
  if (body === undefined) return {};
  const parsed = kind.schema.safeParse(body);
  if (!parsed.success) throw new Error(`the example of a ${kind.name} is not one: ${parsed.error.message}`);
  const fields = kind.hidden.reduce((rest, { path }) => takeOut(rest, path.split(".")).rest, parsed.data);
  const representation = {
    id: `${kind.idPrefix}_${EXAMPLE_ULID}`,
    version: 1,
    address: kind.address(parsed.data, holderAddress[kind.heldBy]),
    ...fields,
    warnings: [],
  };
  return { body, representation };
}
