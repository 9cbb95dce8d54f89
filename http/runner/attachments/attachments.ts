import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Job, JobAttachment } from "../../../actors/runners/job.js";
import type { Claim } from "../archives/archive-client.js";
import { readReason, ServiceRequests, type ServiceRequestsOptions } from "../connection/service-requests.js";
import { JobFailed } from "../job-failed.js";

/** The folder for the files of a run's task, and the claim under which the runner fetches them. */
interface Place {
  readonly folder: string;
  readonly claim: Claim;
  readonly signal: AbortSignal;
}

/** Fetches task files from the service. Writes a file only if its length and SHA-256 equal those in the job. */
export class Attachments {
  readonly #requests: Pick<ServiceRequests, "ask">;

  constructor(options: ServiceRequestsOptions | Pick<ServiceRequests, "ask">) {
    this.#requests = "ask" in options ? options : new ServiceRequests(options);
  }

  /** Fetches the files of the job's task into the folder, one at a time. Rejects with {@link JobFailed}. */
  async fetchFor(job: Pick<Job, "task" | "runId" | "fence">, folder: string, signal: AbortSignal): Promise<void> {
    const files = job.task?.attachments ?? [];
    if (files.length > 0) await mkdir(folder, { recursive: true });
    for (const file of files) {
      if (basename(file.name) !== file.name || /^\.{1,2}$/.test(file.name)) {
        throw new JobFailed("runner-error", `an attachment has the invalid name ${file.name}`);
      }
      const bytes = await this.#fetch(file, { folder, claim: { runId: job.runId, fence: job.fence }, signal });
      if (signal.aborted) return;
      await writeFile(join(folder, file.name), bytes, { flag: "wx" });
    }
  }

  async #fetch({ id, name, bytes, digest }: JobAttachment, { claim, signal }: Place): Promise<Buffer> {
    const headers = { "service-run": claim.runId, "service-run-fence": String(claim.fence) };
    const answer = await this.#requests.ask({ path: `/api/runner/attachments/${id}`, method: "GET", headers }, signal);
    if (answer?.ok !== true) {
      throw new JobFailed("runner-error", `cannot fetch the attachment ${name}: ${await readReason(answer)}`);
    }
    const body = Buffer.from(await answer.arrayBuffer());
    if (body.length !== bytes || createHash("sha256").update(body).digest("hex") !== digest) {
      throw new JobFailed("runner-error", `the attachment ${name} arrived damaged`);
    }
    return body;
  }
}
