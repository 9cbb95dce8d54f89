import { z } from "zod";

/** Longest name of a server, a tool or a skill in a step, in characters: the longest that reads can filter by. */
export const MAX_NAME_CHARACTERS = 200;

/** The name of a server, a tool or a skill in a step; it holds no control characters. */
export const calledName = z
  .string()
  .max(MAX_NAME_CHARACTERS)
  .regex(/^\P{Cc}+$/u, "must be text without control characters, not empty");

/** Who refuses calls: a person, the service, or the agent's own program. */
export const refuser = z.enum(["person", "service", "agent"]);

/** The call of a tool that a step is about. */
export const toolCallSchema = z.object({
  /** The MCP server that the tool belongs to; null for a tool of no server. */
  server: calledName.nullable(),
  tool: calledName,
  /** Whether the call was made and failed. */
  failed: z.boolean(),
  /** Who refused the call, which was not made then; null for nobody. */
  refusedBy: refuser.nullable(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;
