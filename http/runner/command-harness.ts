import type { Job } from "../../actors/runners/protocol.js";
import { type AnswerLine, cut, parseAgentLine } from "./agent-lines.js";
import { Tail } from "./command.js";
import { type AgentResult, type Harness, HarnessNotFound, type HarnessRun } from "./harness.js";
import { linesOf } from "./lines.js";
import { ProcessGroup } from "./process-group.js";

/**
 * Runs any program as the agent: the run's arguments, or the runner's own default command. What it prints are its
 * steps; JSON lines say more (see {@link parseAgentLine}); answers come on its standard input.
 */
export function commandHarness(defaultCommand: readonly string[]): Harness {
  return {
    name: "command",
    run: async (job, run) => {
      const group = await start(job, run, defaultCommand);
      const stop = () => void group.stop();
      run.signal.addEventListener("abort", stop, { once: true });
      if (run.signal.aborted) stop();
      await run.started(group);
      const tail = new Tail();
      // Whatever the program left running must not hold its pipes open.
      group.child.once("exit", () => setTimeout(() => group.kill(), PIPE_GRACE_MS).unref());
      await Promise.all([readOutput(group, run, tail), readErrors(group, run, tail)]);
      const { exitCode } = await group.ended;
      run.signal.removeEventListener("abort", stop);
      group.sweep();
      return { exitCode, output: tail.text } satisfies AgentResult;
    },
  };
}

/** Time for what the leader's children still print once it is gone, in milliseconds. */
const PIPE_GRACE_MS = 2_000;

async function start(job: Job, run: HarnessRun, defaultCommand: readonly string[]): Promise<ProcessGroup> {
  const [program, ...args] = job.harness.args.length > 0 ? job.harness.args : defaultCommand;
  if (program === undefined) {
    throw new HarnessNotFound("the command harness has no program: start the runner with --command");
  }
  try {
    return await ProcessGroup.start({ argv: [program, ...args], cwd: run.cwd, env: run.env });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new HarnessNotFound(`the program ${program} cannot be started here (${code})`);
  }
}

async function readOutput(group: ProcessGroup, run: HarnessRun, tail: Tail): Promise<void> {
  const answer = (line: AnswerLine) => group.child.stdin?.write(`${JSON.stringify(line)}\n`);
  for await (const text of linesOf(group.stdout)) {
    const line = parseAgentLine(text);
    if (line === null) {
      tail.add(`${text}\n`);
      await run.step({ kind: "output", text: cut(text), tool: null });
      continue;
    }
    switch (line.type) {
      case "step":
        await run.step({ kind: line.kind, text: line.text, tool: line.tool });
        break;
      case "cost":
        await run.cost({ amount: line.amount, currency: line.currency });
        break;
      case "ask":
        run.ask(line.question);
        break;
      case "handover": {
        const refused = await run.handover(line.to, line.note);
        answer(refused === null ? { type: "handover.accepted" } : { type: "handover.refused", reason: refused });
      }
    }
  }
}

async function readErrors(group: ProcessGroup, run: HarnessRun, tail: Tail): Promise<void> {
  for await (const text of linesOf(group.stderr)) {
    tail.add(`${text}\n`);
    await run.step({ kind: "error", text: cut(text), tool: null });
  }
}
