import type { AssignedRequest, NetworkHost, NetworkRequests } from "../../actors/outbound/network-requests.js";
import type { RunnerFrame } from "../../actors/runners/protocol.js";

/** A runner that makes requests in its network, as long as it is connected. */
export class RunnerNetworkHost {
  readonly #network: NetworkRequests;
  #host: NetworkHost | null = null;

  constructor(network: NetworkRequests) {
    this.#network = network;
  }

  /** Has the runner given requests of its workspace; `send` answers false when it cannot be sent one just now. */
  join(workspaceId: string, send: (request: AssignedRequest) => boolean): void {
    this.#host = { workspaceId, send };
    this.#network.join(this.#host);
  }

  /** Hands on what the runner says of a request. */
  answer({ id, answer, failure }: Extract<RunnerFrame, { frame: "response" }>): void {
    if (this.#host === null) return;
    const nothing = { ok: false, code: "errored", reason: "the host said nothing of it" } as const;
    const failed = failure === null ? nothing : ({ ok: false, ...failure } as const);
    this.#network.answered(this.#host, id, answer === null ? failed : { ok: true, answer });
  }

  leave(): void {
    if (this.#host !== null) this.#network.leave(this.#host);
    this.#host = null;
  }
}
