import { z } from "zod";
import type { Stored } from "../view.js";

/** A poll as the API returns it. */
export const pollSchema = z
  .strictObject({
    state: z
      .enum(["off", "resting", "asking"])
      .describe(
        "`off`: the definition has no poll; the cursor stays for a later poll. `resting`: waits for `nextAt`. " +
          "`asking`: a request is under way.",
      ),
    cursor: z.string().describe("Where the next poll starts; empty until a response or a person sets it."),
    lastAt: z.string().nullable().describe("When the last request ended; null if there was none."),
    lastStatus: z.int().nullable().describe("The HTTP status of the last response; null if there was none."),
    nextAt: z
      .string()
      .nullable()
      .describe("When the next request runs; null during a request, and while the poll is off."),
    failures: z.int().describe("Number of failures in a row; 0 after a success."),
    problem: z
      .strictObject({
        code: z.string().describe("Why the poll failed, for programs, such as `timeout`."),
        reason: z.string().describe("Why the poll failed, in one sentence."),
      })
      .nullable()
      .describe("The last failure; null after a success."),
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
  /**
   * Why the last successful request gave no cursor. Null or absent if it gave a cursor, or if the poll has no cursor
   * expression.
   */
  readonly cursorProblem?: string | null;
}
