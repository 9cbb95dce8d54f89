import { z } from "zod";
import { type StationBlock, type StationBody, stationSchema } from "../../lines/station.js";
import type { FieldError } from "../../refusal.js";
import { slug } from "../../resources/fields.js";

/** Longest hypothesis, in characters. */
const MAX_HYPOTHESIS_CHARACTERS = 2_000;

/** Most candidates that one run of an agent may ever propose (replays, Limits). */
export const MOST_PER_RUN = 5;

const tooLong = `must be at most ${MAX_HYPOTHESIS_CHARACTERS} characters`;

/** A candidate as an agent proposes it. What it may not propose says `refuse-proposals.ts`. */
export const proposalSchema = z.strictObject({
  name: slug.describe("Used once in a search; never `seed`."),
  hypothesis: z
    .string()
    .min(1, "must not be empty")
    .max(MAX_HYPOTHESIS_CHARACTERS, tooLong)
    .nullable()
    .default(null)
    .describe("Why it should do better."),
  station: z.strictObject(stationSchema.shape, {
    error: ({ code }) => (code === "invalid_type" ? "is a station block, as a line holds it" : undefined),
  }),
});

/** A candidate of a search as its agent proposed it, in its form: `Block` says whether its block has every field. */
export interface Proposal<Block = StationBody> {
  /** A slug. */
  readonly name: string;
  readonly hypothesis: string | null;
  readonly station: Block;
}

/** What an agent sent: candidates, at least one, or what is wrong with their form, at `[i].…`. Both are an attempt. */
export type Proposed =
  | { readonly candidates: readonly Proposal<StationBlock>[] }
  | { readonly faults: readonly FieldError[] };
