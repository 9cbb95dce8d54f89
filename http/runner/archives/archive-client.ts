import { createHash } from "node:crypto";
import { z } from "zod";
import type { ArchiveFinding } from "../../../actors/archives/archive.messages.js";
import type { Pack } from "../../../actors/archives/pack.js";
import {
  readReason,
  type ServiceRequest,
  ServiceRequests,
  type ServiceRequestsOptions,
} from "../connection/service-requests.js";

/** The claim on a run. The runner fetches packs and attachments for this run. */
export interface Claim {
  readonly runId: string;
  readonly fence: number;
}

/** The service refused a request or did not answer it, or its response cannot be used. Retries have already failed. */
export class ArchiveRefused extends Error {
  override readonly name = "ArchiveRefused";
}

const receivedSchema = z.object({ received: z.int().min(0) });

/** Sends the runner's archive requests to the service, with the retries of {@link ServiceRequests}. */
export class ArchiveClient {
  readonly #requests: ServiceRequests;

  constructor(options: ServiceRequestsOptions) {
    this.#requests = new ServiceRequests(options);
  }

  /**
   * Claims the commit for this runner. Rejects with {@link ArchiveRefused} if another runner has claimed it, or if no
   * replay set needs it any more.
   */
  async take(archiveId: string, signal: AbortSignal): Promise<void> {
    await this.#step(archiveId, { step: "take" }, signal);
  }

  async report(archiveId: string, found: ArchiveFinding, signal: AbortSignal): Promise<void> {
    await this.#step(archiveId, { step: "report", found }, signal);
  }

  /** Offers a pack. Returns how many of the pack's chunks the service already has. */
  offer(archiveId: string, { bytes, digest }: Pack, signal: AbortSignal): Promise<number> {
    return this.#step(archiveId, { step: "offer", bytes, digest }, signal);
  }

  /** Sends a chunk. Returns how many chunks the service now has. */
  async put(archiveId: string, n: number, chunk: Buffer, signal: AbortSignal): Promise<number> {
    const sha256 = createHash("sha256").update(chunk).digest("hex");
    const headers = { "content-type": "application/octet-stream", "service-sha256": sha256 };
    const wish = { method: "PUT" as const, headers, body: new Uint8Array(chunk) };
    return readReceived(await this.#ask(`${archiveId}/chunks/${n}`, wish, signal));
  }

  /** Fetches a chunk of a pack, under a run's claim. */
  async get(archiveId: string, n: number, claim: Claim, signal: AbortSignal): Promise<Buffer> {
    const headers = { "service-run": claim.runId, "service-run-fence": String(claim.fence) };
    const answer = await this.#ask(`${archiveId}/chunks/${n}`, { method: "GET", headers }, signal);
    return Buffer.from(await answer.arrayBuffer());
  }

  async #step(archiveId: string, step: object, signal: AbortSignal): Promise<number> {
    const headers = { "content-type": "application/json" };
    return readReceived(await this.#ask(archiveId, { method: "POST", headers, body: JSON.stringify(step) }, signal));
  }

  async #ask(path: string, wish: Omit<ServiceRequest, "path">, signal: AbortSignal): Promise<Response> {
    const answer = await this.#requests.ask({ ...wish, path: `/api/runner/archives/${path}` }, signal);
    if (answer?.ok !== true) throw new ArchiveRefused(await readReason(answer));
    return answer;
  }
}

async function readReceived(answer: Response): Promise<number> {
  const parsed = receivedSchema.safeParse(await answer.json().catch(() => null));
  if (!parsed.success)
    throw new ArchiveRefused(
      "unexpected response from the service. Check that the service and this runner are the same release",
    );
  return parsed.data.received;
}
