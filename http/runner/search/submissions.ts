import { writeJson } from "../../../actors/exact-json.js";
import { maskedWithin } from "../harness/mask.js";
import type { SearchClient, ServiceAnswer, SubmissionType } from "./search-client.js";

export interface SubmissionsOptions {
  readonly client: Pick<SearchClient, "say">;
  readonly claim: { readonly runId: string; readonly fence: number };
  readonly mask: (text: string) => string;
  readonly signal: AbortSignal;
  /** Reports a message and its answer as a step of the run. */
  readonly show: (type: SubmissionType, answer: ServiceAnswer) => Promise<void>;
}

const NOT_SENT = { title: "Not sent", detail: "It is nested too deeply to be sent." };

/** The messages to the service from the agent of one search run. Each message is sent once, one after the other. */
export class Submissions {
  readonly #options: SubmissionsOptions;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  constructor(options: SubmissionsOptions) {
    this.#options = options;
  }

  /** Sends the message as soon as the previous message is answered. Does not reject. */
  say(type: SubmissionType, value: object): Promise<ServiceAnswer> {
    const answered = this.#last.then(() => this.#send(type, value));
    this.#last = answered;
    return answered;
  }

  async #send(type: SubmissionType, value: object): Promise<ServiceAnswer> {
    const { client, claim, signal, show } = this.#options;
    this.#count += 1;
    const key = `${claim.runId}-${claim.fence}-${this.#count}`;
    const body = this.#toBody(value);
    const answer =
      body === null ? { status: 400, body: NOT_SENT } : await client.say(claim, { type, body, key }, signal);
    await show(type, answer);
    return answer;
  }

  #toBody(value: object): string | null {
    try {
      return writeJson(maskedWithin(value, this.#options.mask));
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }
}
