import { z } from "zod";
import { passingAs } from "../../lines/passing.js";
import { type StationBlock, type StationBody, stationSchema } from "../../lines/station.js";

/** Changes to the live station: each given field replaces the whole live field. */
interface LiveBlock {
  readonly from: "live";
  readonly changes: Partial<StationBlock>;
}

/**
 * A station block in a request body: a complete block, or changes to the live block. {@link resolveBlock} adds the
 * omitted fields.
 */
export type ProposedBlock = StationBlock | LiveBlock;

const wholeBlock = z.strictObject(stationSchema.shape);

/** The fields without their defaults: an omitted field keeps the live value. */
const changedFields = Object.fromEntries(
  Object.entries<z.ZodType>(stationSchema.shape).map(([name, field]) => [name, z.optional(withoutDefault(field))]),
);

const liveBlock = z
  .strictObject({
    from: z.literal("live").describe("Takes every omitted field from the live station."),
    ...changedFields,
  })
  .transform(({ from, ...changes }): LiveBlock => ({ from, changes }))
  .meta({ title: "changes of the live station" });

/** The schema of a proposed block. */
export const proposedBlockSchema = z
  .union([wholeBlock, liveBlock], {
    error: ({ input }) => (input === undefined ? undefined : "is a station block, as a line holds it"),
  })
  .describe(
    'A whole station block, in which omitted fields have their defaults, or `{"from": "live"}` with the fields ' +
      "to change: the service copies all other fields from the live station at that moment. A read returns the " +
      "whole block.",
  );

/**
 * Returns the complete block. `live` is the station that the block is proposed for. If the block is a list of changes,
 * `live` provides every omitted field. If the block is complete, `live` provides only an omitted `passesTo`.
 */
export function resolveBlock(proposed: ProposedBlock, live: StationBody): StationBody {
  if (!("from" in proposed)) return passingAs(proposed, live);
  const { id: _id, ...block } = live;
  return passingAs({ ...block, ...proposed.changes }, live);
}

function withoutDefault(field: z.ZodType): z.core.$ZodType {
  return field instanceof z.ZodDefault ? field.unwrap() : field;
}
