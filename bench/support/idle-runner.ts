import WebSocket from "ws";
import {
  RUNNER_FEATURES,
  RUNNER_PROTOCOL,
  type RunnerMessage,
  serviceFrameSchema,
} from "../../actors/runners/protocol.js";

/** Where a runner that does nothing connects, and with how many places. */
export interface IdleRunner {
  readonly port: number;
  readonly poolToken: string;
  readonly slots: number;
  /** How many steps each agent reports; none by default. */
  readonly steps?: number;
}

/** What repositories are at. */
const COMMIT = "1".repeat(40);

/** What an agent says of a step. */
const SAID = "Read the file, changed what it says about the case, and ran the tests again. ".repeat(3);

/** A runner whose agents do nothing but say so: each run begins and ends at once, for a cent. */
function begin({ port, poolToken, slots, steps = 0 }: IdleRunner): void {
  const headers = { authorization: `Bearer ${poolToken}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/runner`, { headers });
  let said = 0;
  let received = 0;
  const post = (frame: object) => socket.send(JSON.stringify(frame));
  const say = (message: RunnerMessage) => {
    said += 1;
    post({ frame: "message", n: said, ack: received, message });
  };
  socket.on("open", () =>
    post({
      ...{ frame: "hello", protocol: RUNNER_PROTOCOL, runnerId: null, instance: "0123456789abcdef", name: "idle" },
      ...{ version: "1", labels: [], harnesses: ["command"], slots, received: 0, claims: [] },
      features: [...RUNNER_FEATURES],
    }),
  );
  socket.on("message", (data) => {
    const frame = serviceFrameSchema.parse(JSON.parse(data.toString()));
    if (frame.frame !== "message") return;
    received = frame.n;
    if (frame.message.type !== "run.assign") return;
    const { runId, fence, checkouts } = frame.message.job;
    const bases = checkouts.map(({ repository, base }) => ({ repository, base: base ?? COMMIT }));
    say({ type: "run.started", runId, fence, bases });
    for (let index = 0; index < steps; index++) {
      const step = { index, kind: "message", text: SAID, tool: null, spent: null } as const;
      say({ type: "run.step", runId, fence, step });
    }
    const left = { failure: null, checkouts: [], check: null, ending: null };
    const spent = { amount: 0.01, currency: "EUR" };
    say({ type: "run.ended", runId, fence, outcome: "completed", ...left, spent });
  });
}

// Runs in its own process: begins at the message that says where, and ends with its parent.
process.on("message", (message: IdleRunner) => begin(message));
process.on("disconnect", () => process.exit());
