import { z } from "zod";
import type { Stored } from "../view.js";

/** A poll as the API returns it. */
export const pollSchema = z
  .strictObject({
    /** `off` while the definition has no poll. The cursor stays for a later poll. */
    state: z.enum(["off", "resting", "asking"]),
    /** Empty until a response or a user gives one. */
    cursor: z.string(),
    lastAt: z.string().nullable(),
    /** The status of the response to the last request; null if it had none. */
    lastStatus: z.int().nullable(),
    /** When the next request runs; null during a request, and while the poll is off. */
    nextAt: z.string().nullable(),
    /** Number of consecutive failures. */
    failures: z.int(),
    /** The last failure; null after a success. */
    problem: z.strictObject({ code: z.string(), reason: z.string() }).nullable(),
    cursorProblem: z
      .string()
      .nullable()
      .describe(
        "Why the latest response gave no new cursor, so that the next poll repeats the request; otherwise " +
          "null. This is harmless if the response had no new data.",
      ),
  })
  .meta({ title: "poll" });

/**
 * The poll of an integration. The row and its cursor exist until the integration is removed or the workspace is closed.
 */
export interface PollRow extends Stored<typeof pollSchema, "cursorProblem"> {
  readonly integrationId: string;
  /** Why the last success gave no cursor; null or absent if it gave one, or none was expected. */
  readonly cursorProblem?: string | null;
}
