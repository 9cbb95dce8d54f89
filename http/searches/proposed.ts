import { z } from "zod";
import { MOST_PER_RUN, type Proposed, proposalSchema } from "../../actors/searches/agent/proposal.js";
import { parseBy } from "../wire/field-errors.js";

const listSchema = z.array(proposalSchema);

/** The body schema for the documentation: several candidates, or one. */
export const proposedSchema = z.union([z.strictObject({ candidates: listSchema }), proposalSchema]);

/**
 * Reads the candidates of an agent's request, which holds a list or one candidate. Returns the candidates, or the
 * errors in their form with paths `[i].…`. If there are more than a run may propose, it checks none of them.
 */
export function readProposed(body: unknown): Proposed {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return faulty("", "must be an object");
  // An empty body is most likely a body without its list, not a candidate without a name.
  if (Object.keys(body).length === 0) return faulty("candidates", "is required");
  if (!("candidates" in body)) return readList([body]);
  const [other] = Object.keys(body).filter((name) => name !== "candidates");
  if (other !== undefined) return faulty(other, "is not a field here");
  const { candidates } = body;
  if (!Array.isArray(candidates)) return faulty("candidates", "must be a list");
  if (candidates.length === 0) return faulty("candidates", "must not be empty");
  if (candidates.length > MOST_PER_RUN) {
    return faulty(`[${MOST_PER_RUN}]`, `is one too many: a run may propose at most ${MOST_PER_RUN} candidates`);
  }
  return readList(candidates);
}

function readList(list: readonly unknown[]): Proposed {
  const parsed = parseBy(listSchema, list);
  return "data" in parsed ? { candidates: parsed.data } : { faults: parsed.errors };
}

function faulty(path: string, message: string): Proposed {
  return { faults: [{ path, message }] };
}
