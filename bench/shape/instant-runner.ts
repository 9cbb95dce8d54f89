import { once } from "node:events";
import WebSocket from "ws";

/** A runner that starts and completes each run as soon as its job arrives. */
export interface InstantRunner {
  /** Changes the number of offered slots. */
  offer(slots: number): void;
  /** Returns the number of runs that the runner has ended. */
  runs(): number;
  close(): void;
}

interface Frame {
  readonly frame: string;
  readonly n?: number;
  readonly message?: { readonly type: string; readonly job?: { readonly runId: string; readonly fence: number } };
}

/**
 * Connects with a pool's token. At first, the runner offers no slots. It uses no product code, so it works with any
 * release.
 */
export async function connectRunner(port: number, poolToken: string): Promise<InstantRunner> {
  const headers = { authorization: `Bearer ${poolToken}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/runner`, { headers });
  let sent = 0;
  let received = 0;
  let runs = 0;
  const post = (frame: object) => socket.send(JSON.stringify(frame));
  const say = (message: object) => {
    sent += 1;
    post({ frame: "message", n: sent, ack: received, message });
  };
  const work = ({ n, message }: Frame) => {
    received = n ?? received;
    const job = message?.type === "run.assign" ? message.job : undefined;
    if (job === undefined) return;
    const claim = { runId: job.runId, fence: job.fence };
    say({ type: "run.started", ...claim });
    const left = { ending: null, failure: null, checkouts: [], check: null, spent: null };
    say({ type: "run.ended", ...claim, outcome: "completed", ...left });
    runs += 1;
  };
  const welcomed = new Promise<void>((resolve) => {
    socket.on("message", (data) => {
      const frame = JSON.parse(data.toString()) as Frame;
      if (frame.frame === "welcome") resolve();
      if (frame.frame === "message") work(frame);
    });
  });
  await once(socket, "open");
  post({
    frame: "hello",
    protocol: 1,
    runnerId: null,
    instance: "0123456789abcdef",
    name: "instant",
    version: "1",
    labels: [],
    harnesses: ["command"],
    slots: 0,
    received: 0,
    claims: [],
  });
  await welcomed;
  return { offer: (slots) => say({ type: "offer", slots }), runs: () => runs, close: () => socket.terminate() };
}
