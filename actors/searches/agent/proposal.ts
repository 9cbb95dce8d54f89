import { z } from "zod";
import type { StationBody } from "../../lines/station.js";
import type { FieldError } from "../../refusal.js";
import { type ProposedBlock, proposedBlockSchema } from "../../replays/starting/live-block.js";
import { slug } from "../../resources/fields.js";

/** Maximum length of a hypothesis, in characters. */
const MAX_HYPOTHESIS_CHARACTERS = 2_000;

/** Maximum number of candidates that one agent run may propose (see "Limits" in the replays document). */
export const MAX_PER_RUN = 5;

const tooLong = `must be at most ${MAX_HYPOTHESIS_CHARACTERS} characters`;

/** A candidate in the form that an agent proposes. `refuse-proposals.ts` has the further rules. */
export const proposalSchema = z.strictObject({
  name: slug.describe("The name of the candidate: unique in the search, and not `seed`."),
  hypothesis: z
    .string()
    .min(1, "must not be empty")
    .max(MAX_HYPOTHESIS_CHARACTERS, tooLong)
    .nullable()
    .default(null)
    .describe("Why the candidate should do better, in at most 2,000 characters; null for no reason."),
  station: proposedBlockSchema,
});

/**
 * A well-formed candidate as its agent proposed it. `Block` is the form of its station block, by default the complete
 * block.
 */
export interface Proposal<Block = StationBody> {
  /** A slug. */
  readonly name: string;
  readonly hypothesis: string | null;
  readonly station: Block;
}

/**
 * An agent's proposal: at least one candidate, or the format faults with paths `[i].…`. A proposal with faults also
 * counts as an attempt.
 */
export type Proposed =
  | { readonly candidates: readonly Proposal<ProposedBlock>[] }
  | { readonly faults: readonly FieldError[] };
