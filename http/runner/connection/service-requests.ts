import { z } from "zod";
import type { Clock } from "../../../runtime/clock.js";
import type { Credential } from "./credential.js";

export interface ServiceRequestsOptions {
  /** The service's base URL. */
  readonly url: string;
  readonly credential: Credential;
  /** The id that the service assigned to this runner; null before the first welcome. */
  readonly runnerId: () => string | null;
  readonly clock: Clock;
}

/** A request to the service. `path` is relative to the service's base URL, and starts with a slash. */
export interface ServiceRequest extends Pick<RequestInit, "body"> {
  readonly path: string;
  readonly method: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
}

const ONE_REQUEST_MS = 60_000;
/** Wait before each retry, in milliseconds. */
const WAITS_MS = [500, 2_000, 8_000, 30_000];

/**
 * Sends the runner's HTTP requests to the service, with its credential and id. Retries a request up to four times if
 * the service is unreachable or answers with 408, 429 or a server error.
 */
export class ServiceRequests {
  readonly #options: ServiceRequestsOptions;

  constructor(options: ServiceRequestsOptions) {
    this.#options = options;
  }

  /**
   * Returns the response to the last attempt, successful or not; null if the last attempt got no response. Does not
   * reject.
   */
  async ask(request: ServiceRequest, signal: AbortSignal): Promise<Response | null> {
    for (let tried = 0; ; tried++) {
      const answer = await this.#once(request, signal).catch(() => null);
      const mayPass = answer === null || answer.status === 408 || answer.status === 429 || answer.status >= 500;
      const waitMs = WAITS_MS[tried];
      if (!mayPass || waitMs === undefined || signal.aborted) return answer;
      await this.#rest(waitMs, signal);
    }
  }

  async #once({ path, method, headers, body }: ServiceRequest, signal: AbortSignal): Promise<Response> {
    const { url, credential, runnerId } = this.#options;
    const token = await credential.token();
    const answer = await fetch(`${url.replace(/\/$/, "")}${path}`, {
      method,
      ...(body === undefined ? {} : { body }),
      headers: { ...headers, authorization: `Bearer ${token}`, "service-runner": runnerId() ?? "" },
      // Follow no redirects: they would send the token to another host.
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(ONE_REQUEST_MS)]),
    });
    if (answer.status === 401) credential.refused();
    return answer;
  }

  #rest(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      const cancel = clock.at(clock.now() + ms, done);
      signal.addEventListener("abort", done, { once: true });
      function done(): void {
        cancel();
        signal.removeEventListener("abort", done);
        resolve();
      }
    });
  }
}

/** Describes a missing or unsuccessful response in words. */
export async function readReason(answer: Response | null): Promise<string> {
  if (answer === null) return "the service does not respond";
  const problem = z.object({ detail: z.string() }).safeParse(await answer.json().catch(() => null));
  return problem.success ? problem.data.detail : `the service responded with status ${answer.status}`;
}
