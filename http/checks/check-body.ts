import { z } from "zod";
import type { CheckTerms, Parsed, PlannedChange } from "../../actors/checks/check.messages.js";
import { writeJson } from "../../actors/exact-json.js";
import { lineSchema } from "../../actors/lines/line.js";
import type { FieldError, Refusal } from "../../actors/refusal.js";
import { proposedBlockSchema } from "../../actors/replays/starting/live-block.js";
import { parseBy } from "../wire/field-errors.js";

/** Maximum length of `line` as JSON, in characters (see "Limits" in the replays document). */
const MAX_LINE = 64_000;
const repeatsFault = "Replay repeats must be from 1 to 5.";
const commitFault = "must be a commit: 7 to 64 hex digits";
const numberFault = "must be a pull request number";

const line = z
  .strictObject({
    repositories: lineSchema.shape.repositories
      .unwrap()
      .describe("The planned repositories; each must be a repository of the live line."),
  })
  .optional()
  .describe(
    "The line's repositories as the plan would apply them, each with image and setup; at most 64,000 characters.",
  );

const reference = z
  .strictObject({
    commit: z
      .string(commitFault)
      .regex(/^[0-9a-fA-F]{7,64}$/, commitFault)
      .nullable()
      .optional()
      .describe("The commit of the planned change: 7 to 64 hex digits."),
    pullRequest: z
      .int(numberFault)
      .positive(numberFault)
      .nullable()
      .optional()
      .describe("The number of the pull request that plans the change."),
  })
  .optional()
  .describe("The commit or pull request of the planned change. The service names the check's candidate after it.");

const repeats = z
  .int(repeatsFault)
  .min(1, repeatsFault)
  .max(5, repeatsFault)
  .default(1)
  .describe("Number of replays of each run in the set. The line's ceiling covers all copies.");

/** The schema of the whole body, for the documentation. */
export const checkBody = z.strictObject({
  lineId: z.string().describe("The id of the line that the change is planned for (`line_…`)."),
  stationKey: z.string().describe("The key of a work station of the line that a replay set guards."),
  station: proposedBlockSchema,
  line,
  reference,
  repeats,
});

const given = z.unknown().refine((value) => value !== undefined, "is required");

/**
 * Checks only that the required fields are present and that there are no unknown fields. The values of the fields are
 * parsed afterwards, so that errors are reported in the specified order.
 */
const outline = z.strictObject({
  lineId: z.string(),
  stationKey: z.string(),
  station: given,
  line: z.unknown().optional(),
  reference: z.unknown().optional(),
  repeats: z.unknown().optional(),
});
const planned = z.strictObject({ station: proposedBlockSchema, line });
const terms = z.strictObject({ reference, repeats });

/** A parsed check request. `planned` and `terms` hold either their parsed data or their errors. */
export interface AskedCheck {
  readonly lineId: string;
  readonly stationKey: string;
  readonly planned: Parsed<PlannedChange>;
  readonly terms: Parsed<CheckTerms>;
}

/** Parses the body of a check request. Refuses it if a required field is missing or a field is unknown. */
export function parseCheck(body: unknown): AskedCheck | Refusal {
  const asked = parseBy(outline, body);
  if ("errors" in asked) return { refused: "invalid", errors: asked.errors };
  const { lineId, stationKey, station, ...rest } = asked.data;
  return {
    lineId,
    stationKey,
    planned: isTooLong(rest.line)
      ? { errors: [lineTooLong] }
      : toPlanned(parseBy(planned, { station, line: rest.line })),
    terms: toTerms(parseBy(terms, { reference: rest.reference, repeats: rest.repeats })),
  };
}

const lineTooLong: FieldError = { path: "line", message: `must be at most ${MAX_LINE} characters` };

/**
 * Whether the JSON of the value exceeds {@link MAX_LINE}. Pass the value as the client sent it, before defaults are
 * filled in.
 */
function isTooLong(value: unknown): boolean {
  return value !== undefined && writeJson(value).length > MAX_LINE;
}

function toPlanned(parsed: Parsed<z.output<typeof planned>>): Parsed<PlannedChange> {
  if ("errors" in parsed) return parsed;
  const { station, line: of } = parsed.data;
  return { data: { station, repositories: of?.repositories ?? null } };
}

function toTerms(parsed: Parsed<z.output<typeof terms>>): Parsed<CheckTerms> {
  if ("errors" in parsed) return parsed;
  const { reference: of, repeats: copies } = parsed.data;
  return {
    data: { reference: { commit: of?.commit ?? null, pullRequest: of?.pullRequest ?? null }, repeats: copies },
  };
}
