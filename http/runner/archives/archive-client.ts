import { createHash } from "node:crypto";
import { z } from "zod";
import type { ArchiveFinding } from "../../../actors/archives/archive.messages.js";
import type { Pack } from "../../../actors/archives/pack.js";
import type { Clock } from "../../../runtime/clock.js";
import type { Credential } from "../connection/credential.js";

export interface ArchiveClientOptions {
  /** The service's base URL. */
  readonly url: string;
  readonly credential: Credential;
  /** The id that the service gave this runner; null before the first welcome. */
  readonly runnerId: () => string | null;
  readonly clock: Clock;
}

/** A claim under which a pack is fetched. */
export interface Claim {
  readonly runId: string;
  readonly fence: number;
}

/** The service does not want what is sent, or has not what is fetched; another try would end the same. */
export class ArchiveRefused extends Error {
  override readonly name = "ArchiveRefused";
}

const ONE_REQUEST_MS = 60_000;
/** Waits before each further try, in milliseconds. */
const WAITS_MS = [500, 2_000, 8_000, 30_000];
const receivedSchema = z.object({ received: z.int().min(0) });

/** What a runner asks of the service about archives. Every request is tried again when the service cannot be reached. */
export class ArchiveClient {
  readonly #options: ArchiveClientOptions;

  constructor(options: ArchiveClientOptions) {
    this.#options = options;
  }

  /** Takes a commit; rejects with {@link ArchiveRefused} when another runner has it. */
  async take(archiveId: string, signal: AbortSignal): Promise<void> {
    await this.#step(archiveId, { step: "take" }, signal);
  }

  async report(archiveId: string, found: ArchiveFinding, signal: AbortSignal): Promise<void> {
    await this.#step(archiveId, { step: "report", found }, signal);
  }

  /** Offers a pack; returns how many of its chunks are there already. */
  offer(archiveId: string, { bytes, digest }: Pack, signal: AbortSignal): Promise<number> {
    return this.#step(archiveId, { step: "offer", bytes, digest }, signal);
  }

  /** Sends a chunk; returns how many are there. */
  async put(archiveId: string, n: number, chunk: Buffer, signal: AbortSignal): Promise<number> {
    const sha256 = createHash("sha256").update(chunk).digest("hex");
    const headers = { "content-type": "application/octet-stream", "service-sha256": sha256 };
    const wish = { method: "PUT", headers, body: new Uint8Array(chunk) };
    return readReceived(await this.#ask(`${archiveId}/chunks/${n}`, wish, signal));
  }

  /** Fetches a chunk for a checkout of the run. */
  async get(archiveId: string, n: number, claim: Claim, signal: AbortSignal): Promise<Buffer> {
    const headers = { "service-run": claim.runId, "service-run-fence": String(claim.fence) };
    const answer = await this.#ask(`${archiveId}/chunks/${n}`, { method: "GET", headers }, signal);
    return Buffer.from(await answer.arrayBuffer());
  }

  async #step(archiveId: string, step: object, signal: AbortSignal): Promise<number> {
    const headers = { "content-type": "application/json" };
    return readReceived(await this.#ask(archiveId, { method: "POST", headers, body: JSON.stringify(step) }, signal));
  }

  async #ask(path: string, wish: RequestInit, signal: AbortSignal): Promise<Response> {
    for (let tried = 0; ; tried++) {
      const answer = await this.#once(path, wish, signal).catch(() => null);
      if (answer?.ok === true) return answer;
      const mayPass = answer === null || answer.status === 408 || answer.status === 429 || answer.status >= 500;
      const waitMs = WAITS_MS[tried];
      if (!mayPass || waitMs === undefined || signal.aborted) throw new ArchiveRefused(await reasonOf(answer));
      await this.#rest(waitMs, signal);
    }
  }

  async #once(path: string, { headers, ...wish }: RequestInit, signal: AbortSignal): Promise<Response> {
    const { url, credential, runnerId } = this.#options;
    const token = await credential.token();
    const answer = await fetch(`${url.replace(/\/$/, "")}/api/runner/archives/${path}`, {
      ...wish,
      headers: { ...headers, authorization: `Bearer ${token}`, "service-runner": runnerId() ?? "" },
      // No redirects: the token must not be sent to another host.
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

async function readReceived(answer: Response): Promise<number> {
  const parsed = receivedSchema.safeParse(await answer.json().catch(() => null));
  if (!parsed.success) throw new ArchiveRefused("the service's answer is of another form; is it of another release?");
  return parsed.data.received;
}

async function reasonOf(answer: Response | null): Promise<string> {
  if (answer === null) return "the service does not answer";
  const problem = z.object({ detail: z.string() }).safeParse(await answer.json().catch(() => null));
  return problem.success ? problem.data.detail : `the service answered ${answer.status}`;
}
