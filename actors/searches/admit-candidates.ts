import type { TurnReading } from "../../runtime/turn.js";
import type { TokenCaller } from "../caller.js";
import type { RunConfig } from "../lines/fingerprint.js";
import type { LineFields } from "../lines/line.js";
import { passingAs } from "../lines/passing.js";
import type { StationBody } from "../lines/station.js";
import type { Refusal } from "../refusal.js";
import { toBlockScope } from "../replays/block-scope.js";
import { checkBlock, type LineRow } from "../replays/candidate-rules.js";
import type { ReplayJudging } from "../replays/judging/model-terms.js";
import { type Fingerprints, toConfig, toFingerprints } from "../replays/station-config.js";
import { findResource } from "../resources/resource.table.js";
import type { Proposal, Proposed } from "./agent/proposal.js";
import { admitProposals } from "./agent/refuse-proposals.js";
import { type SearchInputRow, type SearchIterationRow, type SearchRow, toBlock } from "./search.js";
import { listCandidates } from "./search-candidate.table.js";

/** A candidate that may be replayed, with the config that it runs. */
export interface AdmittedCandidate {
  readonly proposal: Proposal;
  readonly config: RunConfig;
  readonly fingerprints: Fingerprints;
}

/** Where candidates are proposed. */
interface Proposing {
  readonly search: SearchRow;
  readonly input: SearchInputRow;
  readonly iteration: SearchIterationRow;
  readonly judging: ReplayJudging;
}

/**
 * The candidates of a proposal, all of them or none: what is wrong with any refuses it. They are checked as a person's
 * are, against the line as it is now, and run on the repositories that the search froze.
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
  const configOf = (block: StationBody) =>
    toConfig(turn, { workspaceId: partition, teamId: search.teamId, line: frozen }, block);
  const scope = toBlockScope(turn, search, { ...PROPOSER, workspaceId: partition });
  const known = listCandidates(turn, partition, search.id);
  const live = toBlock(input.config, input.block);
  const candidates = proposed.candidates.map((each) => ({ ...each, station: passingAs(each.station, live) }));
  const result = admitProposals(candidates, {
    live,
    left: search.budget.perIteration - iteration.proposed.length,
    known: new Map(known.map(({ name, runningFingerprint }) => [name, runningFingerprint])),
    check: (block) => checkBlock(block, line, { stationKey: search.stationKey, scope }),
    fingerprintOf: (block) => toFingerprints(configOf(block), judging).runningFingerprint,
  });
  if ("faults" in result) return { refused: "invalid", errors: result.faults };
  return result.admitted.map(({ name, hypothesis, station }) => {
    const config = configOf(station);
    return { proposal: { name, hypothesis, station }, config, fingerprints: toFingerprints(config, judging) };
  });
}

const stationGone: Refusal = { refused: "not-found", detail: "The station of the search left its line." };

/** Who checks a block of an agent, as a person's candidate is checked: no rule of a station block looks at who writes it. */
const PROPOSER: Omit<TokenCaller, "workspaceId"> = {
  ...{ kind: "token", tokenId: "", scopes: ["plan"], issuedBy: "", trust: null },
};
