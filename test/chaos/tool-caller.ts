import { ToolClient } from "../../http/demo/tool-client.js";

/**
 * What an agent calls in a run: a tool at once, and one that a person approves. Each call has a text of its own. What a
 * call gives is the agent's: an error is no failure of the run.
 */
const tracker = await ToolClient.open("tracker");
for (const tool of ["comment", "leave"]) {
  const { text, isError } = await tracker.call(tool, { text: `${process.env.SIGNALBOX_RUN} ${tool}` });
  console.log(`${tool}: ${isError ? "error: " : ""}${text}`);
}
tracker.close();
