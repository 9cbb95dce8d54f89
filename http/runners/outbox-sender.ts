import { writeJson } from "../../actors/exact-json.js";
import { MAX_FRAME_BYTES, type ServiceFrame, type ServiceMessage } from "../../actors/runners/protocol.js";
import type { WaitingPush } from "../../actors/runners/push.js";
import { listOutgoing, type OutgoingMessage, type RunnerKey } from "../../actors/runners/runner.queries.js";
import type { JobSource } from "../../actors/runs/job.js";
import { TOO_LARGE, toPushOrder, toServiceMessage, whyNotKnown } from "../../actors/runs/outgoing-message.js";
import { type PushLimited, pullRequestRef } from "../../actors/runs/pull-request.messages.js";
import { type JobUndeliverable, runRef } from "../../actors/runs/run.messages.js";
import { NotAccepted, type Runtime } from "../../runtime/runtime.js";
import type { Socket } from "../wire/socket.js";
import { AGAIN, type EndConnection } from "./close-codes.js";
import { type MakePushToken, makePush } from "./push-token.js";

export interface OutboxSenderOptions {
  readonly runtime: Runtime;
  readonly source: JobSource;
  readonly socket: Socket;
  readonly runner: RunnerKey;
  /** The optional protocol features that the runner supports. */
  readonly features: readonly string[];
  /** The number of the last message that the runner received. */
  readonly received: number;
  /** Returns the number of the last message received from the runner. */
  readonly acknowledged: () => number;
  /** Whether the connection is open. After the connection has ended, nothing is sent. */
  readonly isOpen: () => boolean;
  /** Whether the token is still valid for the pool. If not, closes the connection. */
  readonly isAdmitted: () => boolean;
  readonly end: EndConnection;
  /** Creates push tokens; null if no code host is configured. */
  readonly pushTokens: MakePushToken | null;
}

/** Sends the messages in a runner's outbox, in order and with back-pressure. */
export class OutboxSender {
  readonly #options: OutboxSenderOptions;
  #sent: number;
  /** True while the service reports to a run that its job cannot be sent, and while a push token is being created. */
  #isPaused = false;

  constructor(options: OutboxSenderOptions) {
    this.#options = options;
    this.#sent = options.received;
  }

  /** Whether the message with this number was sent to the runner. */
  hasSent(n: number): boolean {
    return n <= this.#sent;
  }

  /**
   * Sends the waiting messages. Call it when the outbox has new messages, and when the socket's buffer is empty again.
   */
  flush(): void {
    const { runtime, source, runner, features, socket, isOpen, isAdmitted } = this.#options;
    if (!isOpen() || this.#isPaused) return;
    for (const waiting of listOutgoing(runtime.reading, runner, { after: this.#sent })) {
      if (socket.bufferedBytes > MAX_FRAME_BYTES) return;
      const { n, message: stored } = waiting;
      if (stored.type === "run.push") return this.#sendPush(n, stored);
      // Send no job without a valid token. A message to drop a job needs none.
      if (stored.type === "run.assign" && !isAdmitted()) return;
      const message = toServiceMessage(source, runner.workspaceId, stored);
      const frame = this.#toFrame(n, message);
      const unsent = whyNotKnown(message, features) ?? (Buffer.byteLength(frame) > MAX_FRAME_BYTES ? TOO_LARGE : null);
      if (unsent !== null) return this.#giveUp(waiting, unsent);
      this.#sent = n;
      socket.send(frame);
    }
  }

  #toFrame(n: number, message: ServiceMessage): string {
    const frame: ServiceFrame = { frame: "message", n, ack: this.#options.acknowledged(), message };
    return writeJson(frame);
  }

  /** Reports to the run of this job that the job cannot be sent, which ends the run. */
  #giveUp({ message: { runId, fence } }: OutgoingMessage, why: string): void {
    const { runtime, runner } = this.#options;
    const message: JobUndeliverable = { type: "job.undeliverable", fence, why };
    this.#holdFor(runtime.ask(runRef(runner.workspaceId, runId), message));
  }

  /** Sends a push order. Creates the push token first; if this fails, the order has the reason instead of a token. */
  #sendPush(n: number, waiting: WaitingPush): void {
    const { isOpen, isAdmitted, pushTokens, socket } = this.#options;
    if (!isAdmitted()) return;
    const sending = makePush(pushTokens, waiting).then(async ({ made, limitedUntilMs }) => {
      if (limitedUntilMs !== null) await this.#tellLimit(waiting, limitedUntilMs);
      if (!isOpen() || !isAdmitted()) return;
      this.#sent = n;
      socket.send(this.#toFrame(n, toPushOrder(waiting, made)));
    });
    this.#holdFor(sending);
  }

  /**
   * Notifies the pull request that the code host's rate limit prevents push tokens until `untilMs`. A finished pull
   * request rejects this message, which is not an error.
   */
  async #tellLimit({ id: push, pullRequestId }: WaitingPush, untilMs: number): Promise<void> {
    const { runtime, runner } = this.#options;
    if (pullRequestId === undefined) return;
    const message: PushLimited = { type: "pull-request.limited", push, untilMs };
    await runtime.ask(pullRequestRef(runner.workspaceId, pullRequestId), message).catch((error: unknown) => {
      if (!(error instanceof NotAccepted)) throw error;
    });
  }

  /** Pauses sending until `work` is done, so that messages are sent in the order of their numbers. */
  #holdFor(work: Promise<unknown>): void {
    this.#isPaused = true;
    work.then(
      () => {
        this.#isPaused = false;
        this.flush();
      },
      () => this.#options.end(AGAIN, "try again"),
    );
  }
}
