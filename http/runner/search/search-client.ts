import { z } from "zod";
import { MAX_FILES } from "../../../actors/searches/agent/bounds.js";
import {
  readReason,
  type ServiceRequest,
  ServiceRequests,
  type ServiceRequestsOptions,
} from "../connection/service-requests.js";

interface Claim {
  readonly runId: string;
  readonly fence: number;
}

/** The kinds of messages that a search's agent sends to the service. */
export type SubmissionType = "candidates" | "cause";

/** The service's answer: the body of its response, or the problem. */
export interface ServiceAnswer {
  /** The HTTP status; 0 if the service did not answer. */
  readonly status: number;
  readonly body: unknown;
}

const listed = z.object({
  file: z.string().regex(/^[\w.-]{1,300}$/),
  path: z.string().max(1_000),
  bytes: z.int().min(0),
  digest: z.string(),
});
const listSchema = z.object({ files: z.array(listed).max(MAX_FILES), leftOut: z.int().min(0) });
/** The files that a search's agent can read. `leftOut` counts the files beyond the limit. */
type ListedFiles = z.output<typeof listSchema>;

const paths: Readonly<Record<SubmissionType, string>> = { candidates: "search-candidates", cause: "search-causes" };
const NO_ANSWER = { title: "No answer", detail: "The service did not answer." };

/** The runner cannot get the files for a search's agent. */
export class SearchRefused extends Error {
  override readonly name = "SearchRefused";
}

/** Sends a runner's requests about search runs to the service. */
export class SearchClient {
  readonly #requests: ServiceRequests;

  constructor(options: ServiceRequestsOptions) {
    this.#requests = new ServiceRequests(options);
  }

  /** Lists the files for the agent. Rejects with {@link SearchRefused}. */
  async list(claim: Claim, signal: AbortSignal): Promise<ListedFiles> {
    const answer = await this.#get(claim, "search-files", signal);
    const parsed = listSchema.safeParse(await answer.json().catch(() => null));
    if (!parsed.success)
      throw new SearchRefused(
        "unexpected list of files from the service. Check that the service and this runner are the same release",
      );
    return parsed.data;
  }

  /** Fetches a file. Rejects with {@link SearchRefused}. */
  async file(claim: Claim, file: string, signal: AbortSignal): Promise<Buffer> {
    const answer = await this.#get(claim, `search-files/${file}`, signal);
    return Buffer.from(await answer.arrayBuffer());
  }

  /** Sends a message of the agent and returns the answer; never rejects. The service accepts one message per key. */
  async say(
    claim: Claim,
    submission: { readonly type: SubmissionType; readonly body: string; readonly key: string },
    signal: AbortSignal,
  ) {
    const headers = { "content-type": "application/json", "idempotency-key": submission.key };
    const request = { method: "POST", body: submission.body, headers } as const;
    const answer = await this.#ask(claim, paths[submission.type], request, signal);
    if (answer === null) return { status: 0, body: NO_ANSWER };
    return { status: answer.status, body: await answer.json().catch((): unknown => NO_ANSWER) };
  }

  async #get(claim: Claim, path: string, signal: AbortSignal): Promise<Response> {
    const answer = await this.#ask(claim, path, { method: "GET" }, signal);
    if (answer?.ok !== true) throw new SearchRefused(await readReason(answer));
    return answer;
  }

  #ask({ runId, fence }: Claim, path: string, { headers, ...wish }: Omit<ServiceRequest, "path">, signal: AbortSignal) {
    const claimHeaders = { ...headers, "service-run-fence": String(fence) };
    return this.#requests.ask({ ...wish, path: `/api/runs/${runId}/${path}`, headers: claimHeaders }, signal);
  }
}
