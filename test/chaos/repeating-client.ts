import { setTimeout as pause } from "node:timers/promises";
import type { Reply } from "../processes/service-process.js";
import type { Chance } from "../simulation/chance.js";
import type { Ledger } from "./ledger.js";
import type { ServiceKeeper } from "./service-keeper.js";

const PAUSE_MS = 40;
/** One in this many acknowledged requests is sent again, as if the client had not received the answer. */
const REPEATED_ONCE_IN = 6;

/** The request's key, or headers that replace those of the session. */
interface Sending {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A client that repeats each request under its key until the service answers, through any number of restarts of the
 * service.
 */
export class RepeatingClient {
  readonly #service: Pick<ServiceKeeper, "request">;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #ledger: Ledger;
  readonly #chance: Chance;

  constructor(options: {
    readonly service: Pick<ServiceKeeper, "request">;
    readonly headers: Readonly<Record<string, string>>;
    readonly ledger: Ledger;
    readonly chance: Chance;
  }) {
    this.#service = options.service;
    this.#headers = options.headers;
    this.#ledger = options.ledger;
    this.#chance = options.chance;
  }

  /**
   * Sends a write and returns the answer: a success or a refusal. Sometimes sends a successful write again. The second
   * answer must then have the same status and id as the first answer, and be marked as a replay.
   */
  async post(path: string, body: unknown, key: string): Promise<Reply> {
    const answer = await this.#untilAnswered("POST", path, body, { key });
    if (!isSuccess(answer)) return answer;
    this.#ledger.acknowledge();
    if (this.#chance.onceIn(REPEATED_ONCE_IN)) {
      const again = await this.#untilAnswered("POST", path, body, { key });
      this.#compare(`${path} under ${key}`, answer, again);
    }
    return answer;
  }

  /** Sends an idempotent write without a key. */
  async postAgain(path: string): Promise<Reply> {
    return this.#untilAnswered("POST", path);
  }

  /**
   * Sends a delivery of another system, without a session, until the service answers. Sometimes repeats the delivery.
   */
  async deliver(path: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<Reply> {
    const answer = await this.#untilAnswered("POST", path, body, { headers });
    if (isSuccess(answer)) this.#ledger.acknowledge();
    if (this.#chance.onceIn(REPEATED_ONCE_IN)) await this.#untilAnswered("POST", path, body, { headers });
    return answer;
  }

  /** Reads a path; returns the body, or null if the answer is a refusal. */
  async get(path: string): Promise<Readonly<Record<string, unknown>> | null> {
    const answer = await this.#untilAnswered("GET", path);
    return isSuccess(answer) ? answer.body : null;
  }

  /** Returns the items of a list; empty if the answer is a refusal. */
  async list<Item>(path: string): Promise<readonly Item[]> {
    return ((await this.get(path))?.items ?? []) as readonly Item[];
  }

  #compare(what: string, first: Reply, again: Reply): void {
    const isSame = again.status === first.status && again.body?.id === first.body?.id;
    if (!isSame) this.#ledger.complaints.push(`${what} was answered ${shown(first)}, and again ${shown(again)}`);
    else if (again.headers["idempotent-replayed"] !== "true") {
      this.#ledger.complaints.push(`${what} was not known as a repetition`);
    }
  }

  async #untilAnswered(method: "GET" | "POST", path: string, body?: unknown, of: Sending = {}): Promise<Reply> {
    const own = of.key === undefined ? this.#headers : { ...this.#headers, "idempotency-key": of.key };
    const headers = { ...(of.headers ?? own) };
    for (;;) {
      const answer = await this.#service.request(method, path, { body, headers }).catch(() => undefined);
      if (answer !== undefined && answer.status < 500 && answer.status !== 429) return answer;
      if (answer?.status === 500) this.#ledger.complaints.push(`${method} ${path} answered ${shown(answer)}`);
      await pause(PAUSE_MS);
    }
  }
}

function isSuccess({ status }: Reply): boolean {
  return status >= 200 && status < 300;
}

function shown({ status, body }: Reply): string {
  return `${status} ${JSON.stringify(body)?.slice(0, 200)}`;
}
