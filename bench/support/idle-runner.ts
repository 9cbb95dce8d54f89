import WebSocket from "ws";
import {
  RUNNER_FEATURES,
  RUNNER_PROTOCOL,
  type RunnerMessage,
  serviceFrameSchema,
} from "../../actors/runners/protocol.js";

/** Where the runner connects, how many slots it has, and what its agents report. */
export interface IdleRunner {
  readonly port: number;
  readonly poolToken: string;
  readonly slots: number;
  /** Number of steps that each agent reports; 0 by default. */
  readonly steps?: number;
  /** How the runner's runs end; `completed` by default. */
  readonly outcome?: "completed" | "failed";
}

/** The commit at which a run starts if the run's job names no commit. */
const COMMIT = "1".repeat(40);

/** How long the runner waits for its next run before it stops, in milliseconds. */
const LONGEST_WAIT_MS = 60_000;

/** The text that an agent reports for a step. */
const SAID = "Read the file, changed what it says about the case, and ran the tests again. ".repeat(3);

/**
 * Starts a runner whose agents only report. Each run starts and ends immediately, and costs one cent. The runner
 * connects once and renews its lease. If the connection closes, or no run arrives for a minute, the runner reports the
 * reason to its parent and exits.
 */
function begin({ port, poolToken, slots, steps = 0, outcome = "completed" }: IdleRunner): void {
  const headers = { authorization: `Bearer ${poolToken}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/runner`, { headers });
  let said = 0;
  let received = 0;
  let runs = 0;
  const giveUp = (why: string) => process.send?.(`after ${runs} runs ${why}`, () => process.exit(1));
  const waiting = setTimeout(() => giveUp(`no run came for ${LONGEST_WAIT_MS / 1_000} seconds`), LONGEST_WAIT_MS);
  const post = (frame: object) => socket.send(JSON.stringify(frame));
  const say = (message: RunnerMessage) => {
    said += 1;
    post({ frame: "message", n: said, ack: received, message });
  };
  socket.on("open", () =>
    post({
      frame: "hello",
      protocol: RUNNER_PROTOCOL,
      runnerId: null,
      instance: "0123456789abcdef",
      name: "idle",
      version: "1",
      labels: [],
      harnesses: ["command"],
      slots,
      received: 0,
      claims: [],
      features: [...RUNNER_FEATURES],
    }),
  );
  socket.on("close", (code, reason) => giveUp(`its connection was closed: ${code} ${reason}`.trim()));
  socket.on("error", ({ message }) => giveUp(`its connection failed: ${message}`));
  // List no claims: no run is in progress between two messages.
  const beat = () => post({ frame: "beat", ack: received, claims: [] });
  socket.on("message", (data) => {
    const frame = serviceFrameSchema.parse(JSON.parse(data.toString()));
    if (frame.frame === "welcome") setInterval(beat, (frame.leaseSeconds * 1_000) / 3);
    if (frame.frame !== "message") return;
    received = frame.n;
    if (frame.message.type !== "run.assign") return;
    waiting.refresh();
    runs += 1;
    const { runId, fence, checkouts } = frame.message.job;
    const bases = checkouts.map(({ repository, base }) => ({ repository, base: base ?? COMMIT }));
    say({ type: "run.started", runId, fence, bases });
    for (let index = 0; index < steps; index++) {
      const step = { index, kind: "message", text: SAID, tool: null, spent: null } as const;
      say({ type: "run.step", runId, fence, step });
    }
    const failed = { code: "harness-failed", message: "The agent gave up.", output: "" } as const;
    const left = { failure: outcome === "failed" ? failed : null, checkouts: [], check: null, ending: null };
    const spent = { amount: 0.01, currency: "EUR" };
    say({ type: "run.ended", runId, fence, outcome, ...left, spent });
  });
}

// Entry point of the child process: starts at the message that gives the address, and exits with its parent.
process.on("message", (message: IdleRunner) => begin(message));
process.on("disconnect", () => process.exit());
