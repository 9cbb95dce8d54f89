import type { TurnReading } from "../../../runtime/turns/turn.js";
import type { TokenCaller } from "../../caller.js";
import type { RunConfig } from "../../lines/fingerprint.js";
import type { LineFields } from "../../lines/line.js";
import type { StationBody } from "../../lines/station.js";
import type { Refusal } from "../../refusal.js";
import { toBlockScope } from "../../replays/candidates/block-scope.js";
import { checkBlock, type LineRow } from "../../replays/candidates/candidate-rules.js";
import { type Fingerprints, toConfig, toFingerprints } from "../../replays/candidates/station-config.js";
import type { ReplayJudging } from "../../replays/judging/model-terms.js";
import { resolveBlock } from "../../replays/starting/live-block.js";
import { findResource } from "../../resources/resource.table.js";
import type { Proposal, Proposed } from "../agent/proposal.js";
import { admitProposals } from "../agent/refuse-proposals.js";
import { type SearchInputRow, type SearchIterationRow, type SearchRow, toBlock } from "../search/search.js";
import { listCandidates } from "./search-candidate.table.js";

/** A candidate that may be replayed, with its config. */
export interface AdmittedCandidate {
  readonly proposal: Proposal;
  readonly config: RunConfig;
  readonly fingerprints: Fingerprints;
}

/** The context of a proposal. */
interface Proposing {
  readonly search: SearchRow;
  readonly input: SearchInputRow;
  readonly iteration: SearchIterationRow;
  readonly judging: ReplayJudging;
}

/**
 * Admits all candidates of a proposal, or refuses all of them if any has a fault. An agent's candidates are validated
 * against the current line, as candidates of people are. The candidates run on the repositories that the search stored
 * at its start.
 */
export function admitCandidates(
  turn: TurnReading,
  proposing: Proposing,
  proposed: Proposed,
): readonly AdmittedCandidate[] | Refusal {
  if ("faults" in proposed) return { refused: "invalid", errors: proposed.faults };
  const { search, input, iteration, judging } = proposing;
  const { partition } = turn.self;
  const line: LineRow | undefined = findResource<LineFields>(turn, partition, "line", search.lineId);
  const stands = line?.fields.stations.some(({ key }) => key === search.stationKey) ?? false;
  if (line === undefined || !stands) return stationGone;
  const frozen = { ...line.fields, repositories: input.config.repositories };
  const readConfig = (block: StationBody) =>
    toConfig(turn, { workspaceId: partition, teamId: search.teamId, line: frozen }, block);
  const scope = toBlockScope(turn, search, { ...PROPOSER, workspaceId: partition });
  const known = listCandidates(turn, partition, search.id);
  const live = toBlock(input.config, input.block);
  const candidates = proposed.candidates.map((each) => ({ ...each, station: resolveBlock(each.station, live) }));
  const result = admitProposals(candidates, {
    live,
    left: search.budget.perIteration - iteration.proposed.length,
    known: new Map(known.map(({ name, runningFingerprint }) => [name, runningFingerprint])),
    check: (block) => checkBlock(block, line, { stationKey: search.stationKey, scope }),
    toFingerprint: (block) => toFingerprints(readConfig(block), judging).runningFingerprint,
  });
  if ("faults" in result) return { refused: "invalid", errors: result.faults };
  return result.admitted.map(({ name, hypothesis, station }) => {
    const config = readConfig(station);
    return { proposal: { name, hypothesis, station }, config, fingerprints: toFingerprints(config, judging) };
  });
}

const stationGone: Refusal = { refused: "not-found", detail: "The station of the search was removed from its line." };

/** The caller for whom an agent's blocks are validated. Blocks of agents and of people have the same rules. */
const PROPOSER: Omit<TokenCaller, "workspaceId"> = {
  kind: "token",
  tokenId: "",
  scopes: ["plan"],
  issuedBy: "",
  trust: null,
};
