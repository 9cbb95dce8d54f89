import t from "tap";
import { processTerminal } from "../../../../http/cli/command/terminal.js";
import { runUntilInterrupted } from "../../../../http/cli/dev/drain.js";

/** A service and a runner that record their calls, and a store that can fail. */
function recorded() {
  const calls: string[] = [];
  const record = (call: string) => async () => void calls.push(call);
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const running = {
    service: { stop: record("stop the service") },
    runner: { drain: record("drain"), stop: record("stop the runner"), kill: () => void calls.push("kill") },
    failed,
  };
  const notes: string[] = [];
  const terminal = { ...processTerminal(), note: (line: string) => void notes.push(line) };
  const interrupted = new AbortController();
  let again: (times: number) => void = () => undefined;
  const context = {
    terminal,
    signal: interrupted.signal,
    onInterruptedAgain: (act: (times: number) => void) => {
      again = act;
    },
  };
  const ended = runUntilInterrupted(running, context, () => undefined);
  return { calls, notes, ended, fail, interrupt: () => interrupted.abort(), interruptAgain: () => again(2) };
}

t.test("a failed store stops the runner too, so that its connection does not keep the process", async (t) => {
  const { calls, ended, fail } = recorded();
  fail(new Error("The disk is full"));
  await t.rejects(ended, /The disk is full/);
  t.same(calls, ["kill", "stop the service", "stop the runner"]);
});

t.test("an interruption drains the runner before the service stops, and a second one stops the runs", async (t) => {
  const { calls, notes, ended, interrupt, interruptAgain } = recorded();
  interrupt();
  interruptAgain();
  await ended;
  t.same(calls, ["stop the runner", "drain", "stop the service"]);
  t.match(notes.join("\n"), /stopping the active runs\ndraining/);
});
