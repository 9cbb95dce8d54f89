import { createHash } from "node:crypto";
import { basename } from "node:path";
import { readJson, writeJson } from "../../../actors/exact-json.js";
import { ApiError, type Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import { readInput } from "../command/read-input.js";
import type { Place } from "./place.js";

/** The value of `--candidate` for the live config. */
const LIVE = "live";
/** Maximum length of the file name in a candidate's name. */
const LONGEST_NAME = 80;

/** The options that propose a config. Exactly one must be given. */
export interface CandidateOptions {
  readonly prompt?: string;
  readonly candidate?: string;
}

interface Proposal {
  readonly name: string;
  readonly station: unknown;
}

/**
 * Creates the candidate that the options propose; returns its id, or `live`. The candidate's name contains a digest of
 * the proposal and of the live station. So a repeated proposal finds its earlier candidate.
 */
export async function createCandidate(context: Context, place: Place, options: CandidateOptions): Promise<string> {
  const proposal = await readProposal(context, options);
  if (proposal === null) return LIVE;
  const { station } = proposal;
  const { line, stationKey, team, address } = place;
  const name = `${proposal.name} ${digest(place, station)}`;
  try {
    const { id } = await context.client.post("/api/resources/lines/{lineId}/stations/{stationKey}/replay-candidates", {
      path: { lineId: line.id, stationKey },
      body: {
        name,
        station: station as Schema<"ReplayCandidateInput">["station"],
      },
      signal: context.signal,
    });
    return id;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
    const { items } = await context.client.get("/api/resources/workspaces/{workspaceId}/replay-candidates", {
      path: { workspaceId: team.workspace.id },
      query: { station: address },
      signal: context.signal,
    });
    const same = items.find((candidate) => candidate.name === name);
    if (same === undefined) throw error;
    return same.id;
  }
}

function digest({ line, stationKey }: Place, proposed: unknown): string {
  const live = line.stations.find(({ key }) => key === stationKey);
  return createHash("sha256")
    .update(writeJson([live, proposed]))
    .digest("hex")
    .slice(0, 8);
}

/** Reads the proposal from a file or standard input; null for the live config. */
async function readProposal(context: Context, { prompt, candidate }: CandidateOptions): Promise<Proposal | null> {
  if (prompt !== undefined && candidate !== undefined) {
    throw new CommandError("give --prompt or --candidate, not both", exitCodes.usage);
  }
  if (prompt !== undefined) {
    return { name: toName(prompt), station: { from: "live", prompt: await readInput(context.terminal, prompt) } };
  }
  if (candidate === LIVE) return null;
  if (candidate === undefined) {
    throw new CommandError(
      "pass --prompt <file>, --candidate <file>, or --candidate live for the current config",
      exitCodes.usage,
    );
  }
  const block = parseObject(await readInput(context.terminal, candidate), candidate);
  return { name: toName(candidate), station: block };
}

function parseObject(text: string, path: string): object {
  let value: unknown;
  try {
    value = readJson(text);
  } catch (error) {
    throw new CommandError(`${path} is not JSON: ${(error as Error).message}`, exitCodes.usage);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new CommandError(
    `${path} must be a station block, such as {"from": "live", "model": "…"}: the fields to change`,
    exitCodes.usage,
  );
}

/** Returns the file name without characters that a candidate's name may not contain. */
function toName(path: string): string {
  const name = path === "-" ? "" : basename(path).replace(/\p{Cc}+/gu, " ");
  const short = name
    .trim()
    .slice(0, LONGEST_NAME)
    .replace(/\p{Cs}/gu, "")
    .trim();
  return short === "" ? "Standard input" : short;
}
