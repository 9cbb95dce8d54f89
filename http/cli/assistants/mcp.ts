import type { CommonOptions, Context } from "../command/context.js";
import { toTable } from "../command/table.js";
import type { Decision } from "./decisions.js";
import { inboxTools } from "./inbox-tools.js";
import { lineTools } from "./line-tools.js";
import { runDecisionTools } from "./run-decision-tools.js";
import { runTools } from "./run-tools.js";
import { serve } from "./serve.js";
import { taskDecisionTools } from "./task-decision-tools.js";
import { taskTools } from "./task-tools.js";
import type { Tool } from "./tool.js";

export interface McpOptions extends CommonOptions {
  readonly allow?: readonly Decision[];
  readonly listTools?: true;
}

const TOOLS: readonly Tool[] = [
  ...lineTools,
  ...taskTools,
  ...runTools,
  ...inboxTools,
  ...taskDecisionTools,
  ...runDecisionTools,
];

/** Serves an assistant until the input ends. With `--list-tools`, lists the tools instead. */
export async function mcp(context: Context, options: McpOptions): Promise<void> {
  const { allow = [], listTools } = options;
  const tools = TOOLS.filter(({ decision }) => decision === null || allow.includes(decision));
  if (listTools !== true) return await serve(context, options, tools);
  const listed = tools.map(({ name, description, decision }) => ({ name, decision, description }));
  context.show({ tools: listed }, () =>
    toTable(
      context.terminal,
      [
        { title: "tool", of: ({ name }) => name },
        { title: "allowed by", of: ({ decision }) => (decision === null ? null : `--allow ${decision}`) },
        { title: "what it does", of: ({ description }) => description, isFlexible: true },
      ],
      listed,
    ),
  );
}
