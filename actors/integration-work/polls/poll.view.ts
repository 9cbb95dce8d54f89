import { z } from "zod";
import type { PollRow } from "../../integrations/poll.table.js";

/** A poll as the API returns it. */
export const pollSchema = z
  .strictObject({
    /** `off` while the definition has no poll. The cursor stays for a later poll. */
    state: z.enum(["off", "resting", "asking"]),
    /** Empty before the first poll. */
    cursor: z.string(),
    lastAt: z.string().nullable(),
    /** The status of the last response; null for none. */
    lastStatus: z.int().nullable(),
    /** When the next request runs; null while a request runs. */
    nextAt: z.string().nullable(),
    /** Number of consecutive failures. */
    failures: z.int(),
    /** The last failure; null after a success. */
    problem: z.strictObject({ code: z.string(), reason: z.string() }).nullable(),
    cursorProblem: z
      .string()
      .nullable()
      .describe(
        "Why the last answer gave no cursor, so that the same is asked for again; no harm where it had no news.",
      ),
  })
  .meta({ title: "poll" });

export function pollView({ integrationId: _of, cursorProblem = null, ...poll }: PollRow): z.output<typeof pollSchema> {
  const { problem } = poll;
  return { ...poll, problem: problem === null ? null : { ...problem }, cursorProblem };
}
