import type { z } from "zod";
import type { AttributeFault } from "../../../actors/export/from-attributes.js";
import { stationSchema } from "../../../actors/lines/station.js";
import { pathText } from "../../../actors/refusal.js";

/**
 * Lists the members of a station block, in the API's form, that stations do not have. They are reported, not ignored: a
 * mistyped name would look like a block that changes nothing. The values are not checked here; the service checks them.
 * `at` is the path of the block.
 */
export function listUnknownMembers(block: unknown, at: readonly PropertyKey[]): readonly AttributeFault[] {
  const { error } = stationSchema.safeParse(block);
  return (error?.issues ?? [])
    .flatMap((issue) => unknownIn(issue))
    .map((path) => ({ path: pathText([...at, ...path]), message: "is not a known field" }));
}

type Path = readonly PropertyKey[];

/**
 * Returns the paths of unknown members in one issue. For a union, uses the option that would be valid without such
 * members.
 */
function unknownIn(issue: z.core.$ZodIssue): readonly Path[] {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [...issue.path, key]);
  if (issue.code !== "invalid_union") return [];
  const meant = issue.errors.find((each) => each.length > 0 && each.every(({ code }) => code === "unrecognized_keys"));
  return (meant ?? []).flatMap(unknownIn).map((path) => [...issue.path, ...path]);
}
