import type { Readable, Writable } from "node:stream";
import { writeJson } from "../../../actors/exact-json.js";
import type { Job } from "../../../actors/runners/job.js";
import { Tail } from "../process/command.js";
import { ProcessGroup } from "../process/process-group.js";
import { type AgentLine, type InputLine, parseAgentLine, type WrongLine } from "./agent-lines.js";
import { type Harness, HarnessNotFound, type HarnessRun } from "./harness.js";

/**
 * Runs any program as the agent. The run names the program and its arguments; otherwise the runner's default command is
 * used. The program's output becomes steps; JSON lines in it are messages (see {@link parseAgentLine}). The runner
 * writes answers and people's messages to the program's standard input.
 */
export function commandHarness(defaultCommand: readonly string[]): Harness {
  return {
    name: "command",
    run: async (job, run) => {
      const group = await start(job, run, defaultCommand);
      const free = group.obey(run.halt);
      await run.started(group);
      const tail = new Tail();
      const input = new AgentInput(group.child.stdin);
      run.listen(({ from, text }) => input.give({ type: "message", from, text }));
      await Promise.all([readOutput({ group, input }, run, tail), readErrors(group, run, tail)]);
      const { exitCode } = await group.ended;
      free();
      return { exitCode, output: tail.text };
    },
  };
}

async function start(job: Job, run: HarnessRun, defaultCommand: readonly string[]): Promise<ProcessGroup> {
  const [program, ...args] = job.harness.args.length > 0 ? job.harness.args : defaultCommand;
  if (program === undefined) {
    throw new HarnessNotFound("the command harness has no program: start the runner with --command");
  }
  const { cwd, env, mark } = run;
  try {
    return await ProcessGroup.start({ argv: [program, ...args], cwd, env, mark: `${mark}agent` });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new HarnessNotFound(`cannot start the program ${program} (${code})`);
  }
}

interface Agent {
  readonly group: ProcessGroup;
  readonly input: AgentInput;
}

async function readOutput({ group, input }: Agent, run: HarnessRun, tail: Tail): Promise<void> {
  for await (const text of listLines(group.stdout)) {
    const line = parseAgentLine(text);
    if (line === null || (isSubmission(line) && run.say === null)) {
      tail.add(`${text}\n`);
      await run.step({ kind: "output", text, tool: null });
      continue;
    }
    await take(line, run, (answer) => void input.give(answer));
  }
}

/** Handles a line. Resolves when the next line may be read; the answer may come later. */
async function take(line: AgentLine, run: HarnessRun, answer: (line: InputLine) => void): Promise<void> {
  switch (line.type) {
    case "step": {
      const { type: _type, ...step } = line;
      return run.step(step);
    }
    case "cost":
      return run.cost({ amount: line.amount, currency: line.currency }, line.model ?? null);
    case "ask":
      return run.ask(line.question);
    case "handover": {
      const refused = await run.handover(line.to, line.note);
      return answer(refused === null ? { type: "handover.accepted" } : { type: "handover.refused", reason: refused });
    }
    case "permission": {
      const { id, tool, inputs, reason } = line;
      return run.permission({ tool, inputs, reason }, (given) =>
        answer(
          "dismissed" in given
            ? { type: "permission.dismissed", id, reason: given.dismissed }
            : { type: "permission.approved", id, ...given },
        ),
      );
    }
    case "candidates":
    case "cause": {
      const { type, ...fields } = line;
      const given = await run.say?.(type, fields);
      return given === undefined ? undefined : answer({ type: `${type}.answered`, ...given });
    }
    case "wrong":
      return takeWrong(line, run, answer);
  }
}

/** Whether the line is a search's message for the service. In other runs such a line is plain output. */
function isSubmission({ type }: AgentLine): boolean {
  return type === "candidates" || type === "cause";
}

/** Reports an invalid line as a step. If the agent waits for an answer to the line, also answers with the problem. */
async function takeWrong(
  { wanted, problem, id }: WrongLine,
  run: HarnessRun,
  answer: (line: InputLine) => void,
): Promise<void> {
  const text = `cannot parse the agent's line of type ${wanted}: ${problem}`;
  await run.step({ kind: "error", text, tool: null });
  if (wanted === "handover") answer({ type: "handover.refused", reason: text });
  if (wanted === "permission" && id !== null) answer({ type: "permission.dismissed", id, reason: text });
}

async function readErrors(group: ProcessGroup, run: HarnessRun, tail: Tail): Promise<void> {
  for await (const text of listLines(group.stderr)) {
    tail.add(`${text}\n`);
    await run.step({ kind: "error", text, tool: null });
  }
}

/** Maximum number of lines that the program has not read yet. Further lines are dropped. */
const MAX_UNREAD_LINES = 1_000;

/**
 * A program's standard input, with one JSON object per line. If the program does not read its input, writes do not
 * block, and lines beyond the limit are dropped.
 */
class AgentInput {
  readonly #pipe: Writable | null;
  #unread = 0;

  constructor(pipe: Writable | null) {
    this.#pipe = pipe;
  }

  /**
   * Writes a line. Resolves with true after the program's pipe has accepted the line, and with false if it was dropped
   * or the write failed.
   */
  give(line: InputLine): Promise<boolean> {
    const pipe = this.#pipe;
    if (pipe === null || this.#unread >= MAX_UNREAD_LINES) return Promise.resolve(false);
    this.#unread += 1;
    return new Promise((resolve) => {
      pipe.write(`${writeJson(line)}\n`, (error) => {
        this.#unread -= 1;
        resolve(error === null || error === undefined);
      });
    });
  }
}

/** Maximum length of a line, in characters. The rest of a longer line is dropped. */
const MAX_LINE = 256 * 1024;

/** Yields the lines of a stream. Stops reading the stream while a line is being handled. */
export async function* listLines(stream: Readable): AsyncGenerator<string> {
  let rest = "";
  stream.setEncoding("utf8");
  for await (const chunk of stream as AsyncIterable<string>) {
    const parts = chunk.split("\n");
    const last = parts.pop() ?? "";
    for (const part of parts) {
      yield join(rest, part).replace(/\r$/, "");
      rest = "";
    }
    rest = join(rest, last);
  }
  if (rest !== "") yield rest;
}

function join(before: string, more: string): string {
  return before.length >= MAX_LINE ? before : (before + more).slice(0, MAX_LINE);
}
