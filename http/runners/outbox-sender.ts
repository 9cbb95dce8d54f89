import { MAX_FRAME_BYTES, type ServiceFrame, type ServiceMessage } from "../../actors/runners/protocol.js";
import { listOutgoing, type OutgoingMessage, type RunnerKey } from "../../actors/runners/runner.queries.js";
import type { JobSource } from "../../actors/runs/job.js";
import { TOO_LARGE, toServiceMessage, whyNotKnown } from "../../actors/runs/outgoing-message.js";
import { type JobUndeliverable, runRef } from "../../actors/runs/run.messages.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Socket } from "../transport/socket.js";
import { AGAIN, type EndConnection } from "./close-codes.js";

export interface OutboxSenderOptions {
  readonly runtime: Runtime;
  readonly source: JobSource;
  readonly socket: Socket;
  readonly runner: RunnerKey;
  /** The optional features of the protocol that the runner supports. */
  readonly features: readonly string[];
  /** The number of the last message that the runner has received. */
  readonly received: number;
  /** The number of the last message received from the runner. */
  readonly acknowledged: () => number;
  /** Whether the connection is open: nothing is sent after its end. */
  readonly isOpen: () => boolean;
  /** Whether the token is still valid for the pool; if not, it ends the connection. */
  readonly isAdmitted: () => boolean;
  readonly end: EndConnection;
}

/** Sends the messages in a runner's outbox, in order, with back-pressure. */
export class OutboxSender {
  readonly #options: OutboxSenderOptions;
  #sent: number;
  /** Set while a run is being told that its job cannot be sent. */
  #isHeld = false;

  constructor(options: OutboxSenderOptions) {
    this.#options = options;
    this.#sent = options.received;
  }

  /** Sends the waiting messages. Call it when there are new ones, and when the socket's buffer is drained. */
  flush(): void {
    const { runtime, source, runner, features, socket, isOpen, isAdmitted } = this.#options;
    if (!isOpen() || this.#isHeld) return;
    for (const waiting of listOutgoing(runtime.reading, runner, { after: this.#sent })) {
      if (socket.bufferedBytes > MAX_FRAME_BYTES) return;
      // A job needs a valid token. A message to drop one is sent in any case.
      if (waiting.message.type === "run.assign" && !isAdmitted()) return;
      const message = toServiceMessage(source, runner.workspaceId, waiting);
      const frame = this.#toFrame(waiting.n, message);
      const unsent = whyNotKnown(message, features) ?? (Buffer.byteLength(frame) > MAX_FRAME_BYTES ? TOO_LARGE : null);
      if (unsent !== null) return this.#giveUp(waiting, unsent);
      this.#sent = waiting.n;
      socket.send(frame);
    }
  }

  #toFrame(n: number, message: ServiceMessage): string {
    const frame: ServiceFrame = { frame: "message", n, ack: this.#options.acknowledged(), message };
    return JSON.stringify(frame);
  }

  /** Ends the run of a job that cannot be sent. Nothing is sent until then, so that no message number is skipped. */
  #giveUp({ message: { runId, fence } }: OutgoingMessage, why: string): void {
    const { runtime, runner, end } = this.#options;
    const message: JobUndeliverable = { type: "job.undeliverable", fence, why };
    this.#isHeld = true;
    runtime.ask(runRef(runner.workspaceId, runId), message).then(
      () => {
        this.#isHeld = false;
        this.flush();
      },
      () => end(AGAIN, "try again"),
    );
  }
}
