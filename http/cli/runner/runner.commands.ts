import { declareRunner, RUNNER_DETAILS } from "../../runner/command-line.js";
import type { CommandTree } from "../command/define-command.js";

/** Adds `runner`. */
export function addRunnerCommand(tree: CommandTree): void {
  tree.add({
    usage: "runner",
    summary: "run the agents of a service on this machine",
    details: `${RUNNER_DETAILS}\nIn a clone, run npm run runner -- instead of signalbox runner.`,
    example: `signalbox runner --url https://signalbox.example --command node /opt/agent.js
  signalbox runner --url https://signalbox.example -- node --trace-warnings /opt/agent.js`,
    isLocal: true,
    handlesSignals: true,
    hasNoResult: true,
    declare: declareRunner,
    load: async () => (await import("./run-runner.js")).runRunner,
  });
}
