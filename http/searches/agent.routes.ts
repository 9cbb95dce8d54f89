import { z } from "zod";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { isPoolRunner } from "../../actors/runners/runner.queries.js";
import type { RunnerClaim } from "../../actors/runs/run.queries.js";
import { type Sealer, sha256Hex } from "../../actors/sealer.js";
import { MAX_FILE_BYTES } from "../../actors/searches/agent/bounds.js";
import { causeSchema, recordsNone } from "../../actors/searches/agent/cause.js";
import { findClaimedIteration } from "../../actors/searches/agent/claimed-iteration.js";
import { MAX_PER_RUN, type Proposed, proposalSchema } from "../../actors/searches/agent/proposal.js";
import { searchIterationRef } from "../../actors/searches/iterations/search-iteration.messages.js";
import type { SearchIterationRow } from "../../actors/searches/search/search.js";
import { bearerToken } from "../access/authenticate.js";
import { findPool, type PoolSource } from "../access/pool-bearer.js";
import { parseBy } from "../wire/field-errors.js";
import { granted, Refused } from "../wire/refused.js";
import { idempotencyWithin, replayedHeader, replayHeaders } from "../wire/repeatable.js";
import { type Outcome, type Route, type RouteRequest, route } from "../wire/route.js";
import { getFile, listFiles } from "./agent-files.js";

const claimNote =
  "Only for the runner that has claimed the run, with its pool token; it sends its id in `service-runner` and " +
  "its claim in `service-run-fence`. Other authenticated callers get 404.";
const ofRunners = { access: "public", credential: "pool", problems: ["unauthenticated", "not-found"] } as const;
const repeatable = { "idempotency-key": "optional" } as const;

const proposedAnswer = z
  .strictObject({
    candidates: z
      .array(
        z.strictObject({
          candidateId: z.string().describe("The id of the admitted candidate (`cand_…`)."),
          name: z.string().describe("The name of the candidate, as the agent gave it."),
          fingerprint: z.string().describe("The fingerprint of the candidate's config."),
        }),
      )
      .describe("The admitted candidates, in the order of the request."),
    left: z.int().describe("Number of further candidates that this run may propose."),
  })
  .meta({ title: "proposed-candidates", description: "The candidates that the service admitted." });
const causeAnswer = z
  .strictObject({
    taskId: z.string().describe("The task whose failure the cause explains (`task_…`)."),
    cause: causeSchema.shape.cause,
    replayRunId: z.string().describe("The replay run that shows the failure."),
  })
  .meta({ title: "recorded-cause", description: "A cause that the service recorded." });
const filesAnswer = z
  .strictObject({
    files: z
      .array(
        z.strictObject({
          file: z.string().describe("The name for the download address."),
          path: z.string().describe("The path at which the agent finds the file."),
          bytes: z.int().describe("The size of the file, in bytes."),
          digest: z.string().describe("The SHA-256 digest, in hexadecimal."),
        }),
      )
      .describe("The files that the runner prepares for the agent."),
    leftOut: z.int().describe("Number of files that are left out because of the size limit."),
  })
  .meta({ title: "search-files", description: "The files that a search's agent works from." });

const EXAMPLE = { key: "work", name: "Work", kind: "work", prompt: "Read the tests first.", check: "make test" };

interface AgentRoutesOptions extends PoolSource {
  readonly sealer: Sealer;
}

/** The routes that a runner calls for the agent of a search: to download files, and to send candidates and causes. */
export function searchAgentRoutes(options: AgentRoutesOptions): readonly Route[] {
  const { runtime, sealer } = options;
  return [
    route({
      method: "POST",
      path: "/api/runs/{runId}/search-candidates",
      operation: "proposeSearchCandidates",
      summary: "Propose candidates as a search's agent",
      description:
        `${claimNote} Takes a list or one candidate. Either all are accepted, or none (422, faults at \`[i].…\`); an ` +
        "attempt counts either way. `check`, `judge`, `runners` and `diffs` keep their live values; `profile` is " +
        "the live config's, or null. Refused (409) for the run of a reflection.",
      ...ofRunners,
      headers: repeatable,
      body: z.unknown(),
      takes: proposedSchema,
      example: { name: "reads-first", hypothesis: "The agent edits code before it reads the tests.", station: EXAMPLE },
      answers: { 201: { body: proposedAnswer, headers: replayedHeader } },
      problems: [...ofRunners.problems, "conflict", "invalid"],
      handle: async (request) => {
        const { workspaceId, claim, iteration } = granted(findCalling(options, request));
        const idempotency = idempotencyWithin(sealer, request, `${claim.runId} candidates.propose`);
        const proposed = readProposed(request.body);
        const message = { type: "candidates.propose", ...claim, proposed, idempotency } as const;
        const answer = await runtime.ask(searchIterationRef(workspaceId, iteration.id), message);
        const { replayed, candidates, left } = granted(answer);
        return { status: 201, body: { candidates, left }, headers: replayHeaders(replayed) };
      },
    }),
    route({
      method: "POST",
      path: "/api/runs/{runId}/search-causes",
      operation: "recordSearchCause",
      summary: "Record why a task failed, as a reflection's agent",
      description:
        `${claimNote} A second cause for a task replaces the first. The service refuses causes from a run that ` +
        "proposes candidates (409).",
      ...ofRunners,
      headers: repeatable,
      body: z.unknown(),
      takes: causeSchema,
      example: { taskId: "task_1", cause: "config", evidence: "The agent edits code before it reads the tests." },
      answers: { 201: { body: causeAnswer, headers: replayedHeader } },
      problems: [...ofRunners.problems, "conflict", "invalid"],
      handle: async (request) => {
        const { workspaceId, claim, iteration } = granted(findCalling(options, request));
        const idempotency = idempotencyWithin(sealer, request, `${claim.runId} cause.record`);
        if (iteration.reflection === null) return recordsNone;
        const parsed = parseBy(causeSchema, request.body);
        if ("errors" in parsed) throw new Refused({ refused: "invalid", errors: parsed.errors });
        const { suggestion, ...rest } = parsed.data;
        const failureCause = { ...rest, suggestion: suggestion?.trim() ? suggestion : null };
        const message = { type: "cause.record", ...claim, ...failureCause, idempotency } as const;
        const answer = await runtime.ask(searchIterationRef(workspaceId, iteration.id), message);
        const { replayed, taskId, cause, replayRunId } = granted(answer);
        return { status: 201, body: { taskId, cause, replayRunId }, headers: replayHeaders(replayed) };
      },
    }),
    ...fileRoutes(options),
  ];
}

function fileRoutes(source: PoolSource): readonly Route[] {
  const { reading } = source.runtime;
  return [
    route({
      method: "GET",
      path: "/api/runs/{runId}/search-files",
      operation: "listSearchFiles",
      summary: "List the files for a search's agent",
      description: `${claimNote} Derived from the searched runs only, at most 16 MiB together.`,
      ...ofRunners,
      answers: { 200: filesAnswer },
      handle: async (request) => {
        const { workspaceId, iteration } = granted(findCalling(source, request));
        const listed = await listFiles(reading, { workspaceId, iteration }, request);
        return isRefusal(listed) ? listed : { status: 200, body: listed };
      },
    }),
    route({
      method: "GET",
      path: "/api/runs/{runId}/search-files/{file}",
      operation: "getSearchFile",
      summary: "Download one of these files",
      description: `${claimNote} At most ${MAX_FILE_BYTES} bytes.`,
      ...ofRunners,
      answers: { 200: { body: null, text: "text/plain" } },
      handle: (request): Outcome => {
        const { workspaceId, iteration } = granted(findCalling(source, request));
        const file = getFile(reading, { workspaceId, iteration }, request.params.file ?? "");
        return isRefusal(file) ? file : { status: 200, text: { type: "text/plain", content: file.content } };
      },
    }),
  ];
}

/** The claim of the calling runner, and the iteration whose run the runner claimed. */
interface Calling {
  readonly workspaceId: string;
  readonly claim: RunnerClaim;
  readonly iteration: SearchIterationRow;
}

/**
 * Finds the claim of the calling runner. Refuses with:
 *
 * - `unauthenticated` if the request has no valid credential
 * - `not-found` if the credential is not that of the runner that claims the run
 */
function findCalling(source: PoolSource, request: RouteRequest<"public">): Calling | Refusal {
  const { params, header, caller } = request;
  const token = bearerToken(header("authorization"));
  const pool = token === null ? null : findPool(source, sha256Hex(token));
  if (pool === null && caller === null) {
    return { refused: "unauthenticated", detail: "This endpoint requires a runner pool token." };
  }
  const fence = header("service-run-fence") ?? "";
  const runnerId = header("service-runner") ?? "";
  const { reading } = source.runtime;
  if (pool === null || !/^\d{1,15}$/.test(fence) || !isPoolRunner(reading, pool, runnerId)) return NOTHING;
  const { workspaceId } = pool;
  const claim = { runId: params.runId ?? "", runnerId, fence: Number(fence) };
  const iteration = findClaimedIteration(reading, workspaceId, claim);
  return iteration === undefined ? NOTHING : { workspaceId, claim, iteration };
}

const NOTHING: Refusal = { refused: "not-found" };

const listSchema = z.array(proposalSchema);

/** The body schema for the documentation: several candidates, or one. */
const proposedSchema = z.union([
  z.strictObject({ candidates: listSchema.describe(`The proposed candidates: 1 to ${MAX_PER_RUN}.`) }),
  proposalSchema,
]);

/**
 * Reads the candidates of an agent's request: a list of candidates, or one candidate. Returns the candidates, or the
 * errors in their form with paths `[i].…`. If the request has more candidates than a run may propose, returns an error
 * and checks no candidate.
 */
export function readProposed(body: unknown): Proposed {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return faulty("", "must be an object");
  // For an empty body, report that `candidates` is missing. The agent more likely forgot the list than the name of a
  // single candidate.
  if (Object.keys(body).length === 0) return faulty("candidates", "is required");
  if (!("candidates" in body)) return readList([body]);
  const [other] = Object.keys(body).filter((name) => name !== "candidates");
  if (other !== undefined) return faulty(other, "is not a field here");
  const { candidates } = body;
  if (!Array.isArray(candidates)) return faulty("candidates", "must be a list");
  if (candidates.length === 0) return faulty("candidates", "must not be empty");
  if (candidates.length > MAX_PER_RUN) {
    return faulty(`[${MAX_PER_RUN}]`, `is one too many: a run may propose at most ${MAX_PER_RUN} candidates`);
  }
  return readList(candidates);
}

function readList(list: readonly unknown[]): Proposed {
  const parsed = parseBy(listSchema, list);
  return "data" in parsed ? { candidates: parsed.data } : { faults: parsed.errors };
}

function faulty(path: string, message: string): Proposed {
  return { faults: [{ path, message }] };
}
