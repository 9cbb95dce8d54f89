import { z } from "zod";
import { MAX_STEP_CHARACTERS } from "../../actors/runners/protocol.js";

/** What an agent program writes to its standard output, a JSON object a line. Any other line is output to be shown. */
export const agentLineSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("step"),
    kind: z.enum(["message", "tool", "output", "thought", "error"]).default("message"),
    text: z.string().transform(cut),
    tool: z.string().max(255).nullable().default(null),
  }),
  z.object({ type: z.literal("cost"), amount: z.number().min(0), currency: z.string().regex(/^[A-Z]{3}$/) }),
  z.object({ type: z.literal("handover"), to: z.string().min(1).max(64), note: z.string().max(20_000).default("") }),
  z.object({ type: z.literal("ask"), question: z.string().min(1).max(20_000) }),
]);

export type AgentLine = z.output<typeof agentLineSchema>;

/** What the runner writes to an agent's standard input, a JSON object a line. */
export type AnswerLine =
  | { readonly type: "handover.accepted" }
  | { readonly type: "handover.refused"; readonly reason: string };

/** A line as the agent meant it; null when it is no message. */
export function parseAgentLine(line: string): AgentLine | null {
  if (!line.startsWith("{")) return null;
  try {
    const parsed = agentLineSchema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** A text cut to what a step holds. */
export function cut(text: string): string {
  return text.length <= MAX_STEP_CHARACTERS ? text : `${text.slice(0, MAX_STEP_CHARACTERS - 1)}…`;
}
