import type { CommandCase } from "../../../support/command-cases.js";

/** The case of `mcp`. Tests with real clients cover the tools that the command serves. */
export const assistantCases: readonly CommandCase[] = [
  {
    name: "mcp",
    args: () => ["--list-tools", "--allow", "answer"],
    prints:
      /^TOOL +ALLOWED BY +WHAT IT DOES\n[\s\S]*\ntask_open +- +Open a task[\s\S]*\ntask_answer +--allow answer +Answer/,
    json: { tools: [{ name: "line_list", decision: null, description: /^List the lines/ }] },
    wrong: ["--allow", "everything"],
  },
];
