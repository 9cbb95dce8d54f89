import { z } from "zod";

/** Maximum length of a server, tool or skill name in a step, in characters. Reads cannot filter by longer names. */
export const MAX_NAME_CHARACTERS = 200;

/** The name of a server, a tool or a skill in a step, without control characters. */
export const calledName = z
  .string()
  .max(MAX_NAME_CHARACTERS)
  .regex(/^\P{Cc}+$/u, "must be text without control characters, not empty");

/** Who refused a call: a person, the service, or the agent's own program. */
export const refuser = z.enum(["person", "service", "agent"]);

/** The tool call that a step is about. */
export const toolCallSchema = z.object({
  server: calledName.nullable().describe("The MCP server of the tool; null for a tool without a server."),
  tool: calledName.describe("The name of the tool on its server."),
  failed: z.boolean().describe("Whether the call was made and failed."),
  refusedBy: refuser
    .nullable()
    .describe(
      "Who refused the call, so that it was not made: a person, the service or the agent's program. Null for nobody.",
    ),
});
export type ToolCall = z.infer<typeof toolCallSchema>;
