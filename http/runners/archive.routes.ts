import { z } from "zod";
import type { ArchiveRow } from "../../actors/archives/archive.js";
import { type ArchiveMessage, archiveRef } from "../../actors/archives/archive.messages.js";
import { findArchiveById, findChunk } from "../../actors/archives/archive.queries.js";
import { CHUNK_BYTES, countChunks, MAX_PACK_BYTES } from "../../actors/archives/pack.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { holdsRunFrom } from "../../actors/runs/run.queries.js";
import { sha256Hex } from "../../actors/sealer.js";
import { type CallingRunner, findCallingRunner, type PoolSource } from "../access/pool-bearer.js";
import { type Outcome, type Route, type RouteRequest, route } from "../wire/route.js";

const DIGEST = /^[0-9a-f]{64}$/;
const MAX_CHUNKS = countChunks({ bytes: MAX_PACK_BYTES });
const path = "/api/runner/archives/{archiveId}";
const ofRunners = { access: "public", credential: "pool", problems: ["unauthenticated", "not-found"] } as const;
const naming = "The runner sends its id in `service-runner`.";

const stepSchema = z.discriminatedUnion("step", [
  z
    .strictObject({ step: z.literal("take").describe("Claims the search for the commit.") })
    .describe("Claims the search for the commit. No other runner searches for it."),
  z
    .strictObject({
      step: z.literal("report").describe("Reports that the runner has no pack of the commit."),
      found: z
        .enum(["on-branch", "missing", "too-large"])
        .describe(
          "`on-branch`: a branch contains the commit, so no pack is needed. `too-large`: the pack exceeds the limit.",
        ),
    })
    .describe("Reports why the runner has no pack of the commit."),
  z
    .strictObject({
      step: z.literal("offer").describe("Reports that the runner has created the pack."),
      bytes: z.int().min(1).max(MAX_PACK_BYTES).describe(`The size of the pack, in bytes; at most ${MAX_PACK_BYTES}.`),
      digest: z.string().regex(DIGEST).describe("The chained digest of the pack's chunks."),
    })
    .describe("Reports that the runner has created the pack."),
]);
type Step = z.output<typeof stepSchema>;

const received = z.strictObject({
  received: z.int().describe("Number of chunks stored; the next chunk has this number."),
});

/** The routes where runners upload and download the commits that replay sets need. See `README.md`. */
export function archiveRoutes(source: PoolSource): readonly Route[] {
  return [
    route({
      method: "POST",
      path,
      operation: "stepArchive",
      summary: "Claim a wanted commit, or report the result of the search for it",
      description:
        `${naming} Repeating the request is safe. 409 if another runner has the commit, or if there is no space ` +
        "for its pack.",
      ...ofRunners,
      body: stepSchema,
      answers: { 200: received },
      problems: [...ofRunners.problems, "conflict"],
      handle: (request) => step(source, request),
    }),
    route({
      method: "PUT",
      path: `${path}/chunks/{n}`,
      operation: "putArchiveChunk",
      summary: "Upload the next chunk of a pack",
      description:
        `${naming} Chunks have ${CHUNK_BYTES} bytes, in order, each with its SHA-256 in \`service-sha256\`. ` +
        "Sending a stored chunk again has no effect. After the last chunk the service stores the commit if the " +
        "pack has the digest that was offered.",
      ...ofRunners,
      body: z.instanceof(Uint8Array),
      rawBodyBytes: CHUNK_BYTES,
      rawBodyType: "application/octet-stream",
      takes: z.string().meta({ format: "binary" }),
      example: "PACK",
      answers: { 200: received },
      problems: [...ofRunners.problems, "conflict", "bad-request"],
      handle: (request) => putChunk(source, request),
    }),
    route({
      method: "GET",
      path: `${path}/chunks/{n}`,
      operation: "getArchiveChunk",
      isServedReadOnly: false,
      summary: "Download a chunk of a pack for a checkout",
      description:
        `${naming} \`service-run\` and \`service-run-fence\` name a run that it has claimed and that starts from the ` +
        "commit; other callers get 404.",
      ...ofRunners,
      answers: { 200: { body: null, text: "application/octet-stream" } },
      handle: (request) => getChunk(source, request),
    }),
  ];
}

type RunnerRequest = Pick<RouteRequest<"public">, "params" | "header">;

/** The calling runner, and the archive that it refers to. */
interface Calling extends CallingRunner {
  readonly archive: ArchiveRow;
}

const NOTHING: Refusal = { refused: "not-found" };

/**
 * Finds the calling runner and the archive. Refuses with:
 *
 * - `unauthenticated` if the request has no valid pool token
 * - `not-found` for an unknown archive, or a runner that is not in the pool
 */
function findCalling(source: PoolSource, request: RunnerRequest): Calling | Refusal {
  const runner = findCallingRunner(source, request);
  if (isRefusal(runner)) return runner;
  const archive = findArchiveById(source.runtime.reading, runner.workspaceId, request.params.archiveId ?? "");
  return archive === undefined ? NOTHING : { ...runner, archive };
}

async function step(source: PoolSource, request: RouteRequest<"public", Step>): Promise<Outcome> {
  const calling = findCalling(source, request);
  if (isRefusal(calling)) return calling;
  const { runtime } = source;
  const { workspaceId, runnerId, archive } = calling;
  const answer = await runtime.ask(archiveRef(workspaceId, archive.id), toMessage(request.body, runnerId));
  if (isRefusal(answer)) return answer;
  return { status: 200, body: { received: "received" in answer ? answer.received : 0 } };
}

type StepMessage = Extract<ArchiveMessage, { readonly type: "archive.take" | "archive.report" | "archive.offer" }>;

function toMessage(taken: Step, runnerId: string): StepMessage {
  switch (taken.step) {
    case "take":
      return { type: "archive.take", runnerId };
    case "report":
      return { type: "archive.report", runnerId, found: taken.found };
    case "offer":
      return { type: "archive.offer", runnerId, pack: { bytes: taken.bytes, digest: taken.digest } };
  }
}

async function putChunk(source: PoolSource, request: RouteRequest<"public", Uint8Array>): Promise<Outcome> {
  const calling = findCalling(source, request);
  if (isRefusal(calling)) return calling;
  const n = toChunkNumber(request.params.n);
  if (n === null) return NOTHING;
  if (sha256Hex(request.body) !== request.header("service-sha256")) {
    return { refused: "bad-request", detail: "The SHA-256 of the chunk does not match: send the chunk again." };
  }
  const { workspaceId, runnerId, archive } = calling;
  const to = archiveRef(workspaceId, archive.id);
  const answer = await source.runtime.ask(to, { type: "archive.chunk", runnerId, n, chunk: request.body });
  return isRefusal(answer) ? answer : { status: 200, body: { received: answer.received } };
}

function getChunk(source: PoolSource, request: RunnerRequest): Outcome {
  const calling = findCalling(source, request);
  if (isRefusal(calling)) return calling;
  const { reading } = source.runtime;
  const { workspaceId, runnerId, archive } = calling;
  const fence = toNumber(request.header("service-run-fence"));
  const n = toChunkNumber(request.params.n);
  if (n === null || fence === null) return NOTHING;
  const claim = { runnerId, runId: request.header("service-run") ?? "", fence };
  if (!holdsRunFrom(reading, workspaceId, claim, archive)) return NOTHING;
  const chunk = findChunk(reading, workspaceId, archive, n);
  if (chunk === undefined) return NOTHING;
  return { status: 200, text: { type: "application/octet-stream", content: chunk } };
}

function toChunkNumber(text = ""): number | null {
  const n = toNumber(text);
  return n !== null && n < MAX_CHUNKS ? n : null;
}

/** Parses a nonnegative integer in its usual notation; null for any other text. */
function toNumber(text = ""): number | null {
  return /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : null;
}
