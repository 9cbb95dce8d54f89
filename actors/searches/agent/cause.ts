import { z } from "zod";
import type { Refusal } from "../../refusal.js";
import { ABOUT_CAUSE, failureCauses } from "../rules/reflection.js";

/** Maximum length of evidence and of a suggestion, in characters. */
const MAX_TEXT_CHARACTERS = 4_000;
const tooLong = `must be at most ${MAX_TEXT_CHARACTERS} characters`;

/** The refusal of a cause from a run that proposes candidates. The content of the request does not matter. */
export const recordsNone: Refusal = {
  refused: "conflict",
  detail: "This run proposes candidates: it records no causes.",
};

/** A cause in the form that a reflection's agent records. */
export const causeSchema = z.strictObject({
  taskId: z
    .string()
    .min(1, "must not be empty")
    .max(100, "must be at most 100 characters")
    .describe("A task that the reflection examines (`task_…`)."),
  cause: z.enum(failureCauses, "must be config, task, judge, check or infra").describe(ABOUT_CAUSE),
  evidence: z
    .string()
    .regex(/\S/, "must not be empty")
    .max(MAX_TEXT_CHARACTERS, tooLong)
    .describe(`Quotes of steps, output or reasons that show the cause, at most ${MAX_TEXT_CHARACTERS} characters.`),
  suggestion: z
    .string()
    .max(MAX_TEXT_CHARACTERS, tooLong)
    .nullable()
    .default(null)
    .describe("The suggested change to the config, at most 4,000 characters; null if there is none."),
});
