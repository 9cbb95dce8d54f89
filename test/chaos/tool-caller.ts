import { ToolClient } from "../../http/demo/tool-client.js";

/**
 * The calls of an agent in a run: one tool without approval, and one that a person approves. Each call has its own
 * text. A call's error does not fail the run.
 */
const tracker = await ToolClient.open("tracker");
for (const tool of ["comment", "leave"]) {
  const { text, isError } = await tracker.call(tool, { text: `${process.env.SIGNALBOX_RUN} ${tool}` });
  console.log(`${tool}: ${isError ? "error: " : ""}${text}`);
}
tracker.close();
