import { ToolClient } from "../../http/demo/tool-client.js";

/**
 * Makes the tool calls of an agent: one that needs no approval, and one that a person approves. Each call has its own
 * text. If a call fails, the run does not fail.
 */
const tracker = await ToolClient.open("tracker");
for (const tool of ["comment", "leave"]) {
  const { text, isError } = await tracker.call(tool, { text: `${process.env.SIGNALBOX_RUN} ${tool}` });
  console.log(`${tool}: ${isError ? "error: " : ""}${text}`);
}
tracker.close();
