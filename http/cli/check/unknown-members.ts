import type { z } from "zod";
import type { AttributeFault } from "../../../actors/export/from-attributes.js";
import { stationSchema } from "../../../actors/lines/station.js";
import { pathText } from "../../../actors/refusal.js";

/**
 * The members of a station block, in the API's form, that no station has. They are told and not left out: a mistyped name
 * would look like a block that changes nothing. Values are not judged: the service does. `at` is the block's place.
 */
export function listUnknownMembers(block: unknown, at: readonly PropertyKey[]): readonly AttributeFault[] {
  const { error } = stationSchema.safeParse(block);
  return (error?.issues ?? [])
    .flatMap((issue) => unknownIn(issue))
    .map((path) => ({ path: pathText([...at, ...path]), message: "is no member that is known here" }));
}

type Path = readonly PropertyKey[];

/** The places that one issue is about; of alternatives, those of the one that would be taken without such members. */
function unknownIn(issue: z.core.$ZodIssue): readonly Path[] {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [...issue.path, key]);
  if (issue.code !== "invalid_union") return [];
  const meant = issue.errors.find((each) => each.length > 0 && each.every(({ code }) => code === "unrecognized_keys"));
  return (meant ?? []).flatMap(unknownIn).map((path) => [...issue.path, ...path]);
}
