import type { OutboundAnswer, Unread } from "../../actors/outbound/http/http-exchange.js";
import type { AssignedRequest, NetworkHost, NetworkRequests } from "../../actors/outbound/http/network-requests.js";
import { MAX_ANSWER_BYTES, type RunnerFrame } from "../../actors/runners/protocol.js";

type Response = Extract<RunnerFrame, { frame: "response" }>;

/** A connected runner that sends requests in its own network. */
export class RunnerNetworkHost {
  readonly #network: NetworkRequests;
  #host: NetworkHost | null = null;

  constructor(network: NetworkRequests) {
    this.#network = network;
  }

  /**
   * Registers the runner for requests of its workspace. `send` returns false if the runner cannot take a request now.
   */
  join(workspaceId: string, send: (request: AssignedRequest) => boolean): void {
    this.#host = { workspaceId, send };
    this.#network.join(this.#host);
  }

  /** Passes on the runner's response to a request. */
  answer({ id, answer, failure }: Response): void {
    if (this.#host === null) return;
    const nothing = { ok: false, code: "errored", reason: "the host sent neither a response nor a reason" } as const;
    const failed = failure === null ? nothing : ({ ok: false, ...failure } as const);
    this.#network.answered(this.#host, id, answer === null ? failed : { ok: true, answer: toAnswer(answer) });
  }

  leave(): void {
    if (this.#host !== null) this.#network.leave(this.#host);
    this.#host = null;
  }
}

/** The maximum number of bytes of one character: a truncated body is at most this much shorter than the limit. */
const CHARACTER_BYTES = 4;

const EARLIER_LIMIT: Unread = {
  kind: "size",
  reason: "it is larger than 16 KiB, the limit of the runner's release",
};

/**
 * Converts a runner's response. A runner of an earlier release does not say whether it truncated the body or failed to
 * decode it. For such a runner, this function infers both from the body.
 */
function toAnswer({ unread, doubt, body, ...answer }: NonNullable<Response["answer"]>): OutboundAnswer {
  if (unread === undefined) {
    const isCut = Buffer.byteLength(body) > MAX_ANSWER_BYTES - CHARACTER_BYTES;
    const isDoubtful = body.includes("\ufffd");
    return {
      ...answer,
      body: body.replace(/^\ufeff/, ""),
      ...(isCut ? { unread: EARLIER_LIMIT } : {}),
      ...(isDoubtful
        ? { doubt: "it is not valid UTF-8, or has an encoding that the runner's release does not decode" }
        : {}),
    };
  }
  return { ...answer, body, ...(unread === null ? {} : { unread }), ...(doubt === undefined ? {} : { doubt }) };
}
