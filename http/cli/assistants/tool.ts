import type { CallToolResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Context } from "../command/context.js";
import type { Decision } from "./decisions.js";
import type { ToolOutput } from "./tool-output.js";

export interface ToolCall {
  /** The context of this call. It reads the person's credential again. */
  readonly context: Context;
  /** The `Idempotency-Key` of the call's write. */
  readonly idempotencyKey: string;
}

/** Inputs that several tools have. {@link CallTool} uses them to make the call's {@link ToolCall}. */
export const commonInputs = {
  team: z
    .string()
    .max(200)
    .optional()
    .describe("Team: its key, <workspace>/<team>, or its id. Default: the default or only team of the person."),
  idempotencyKey: z
    .string()
    .regex(/^[!-~]{1,255}$/)
    .optional()
    .describe("To repeat a call whose response was lost: the key in its error. The write is then done at most once."),
};

const commonSchema = z.object(commonInputs);

/** The values of {@link commonInputs} in a call. */
export type CommonInputs = z.output<typeof commonSchema>;

interface Work {
  readonly isWrite: boolean;
  readonly run: (call: ToolCall) => Promise<ToolOutput>;
}

/** Handles a call: makes its {@link ToolCall}, and converts its output or error to a result. Never rejects. */
export type CallTool = (common: CommonInputs, mcp: ServerContext, work: Work) => Promise<CallToolResult>;

interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly name: string;
  /** For the assistant: what the tool does, and when to use it. */
  readonly description: string;
  /**
   * `reads`: changes nothing. `adds`: creates objects or adds notes. `decides`: makes a decision for the person;
   * offered only if the person allows it (`--allow`).
   */
  readonly effect: { readonly kind: "reads" | "adds" } | { readonly kind: "decides"; readonly decision: Decision };
  readonly input: Input;
  readonly output: Output;
  readonly run: (call: ToolCall, input: z.output<Input>) => Promise<ToolOutput<z.input<Output>>>;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** The decision that the person must allow (`--allow`) for this tool; null if the tool is always offered. */
  readonly decision: Decision | null;
  readonly register: (server: McpServer, call: CallTool) => void;
}

/** Defines a tool. The MCP library validates its inputs and its structured output. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  const { name, description, effect, input, output, run } = definition;
  return {
    name,
    description,
    decision: effect.kind === "decides" ? effect.decision : null,
    register: (server, call) => {
      const annotations =
        effect.kind === "reads"
          ? { readOnlyHint: true }
          : { readOnlyHint: false, destructiveHint: effect.kind === "decides" };
      const config = {
        description,
        annotations,
        inputSchema: input as z.ZodObject,
        outputSchema: output as z.ZodObject,
      };
      server.registerTool(name, config, (given, mcp) =>
        call(commonSchema.parse(given), mcp, {
          isWrite: effect.kind !== "reads",
          run: (toolCall) => run(toolCall, given as z.output<Input>),
        }),
      );
    },
  };
}
