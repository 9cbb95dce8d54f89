import type { Turn, TurnReading } from "../../../runtime/turns/turn.js";
import { type RunConfig, toFingerprint } from "../../lines/fingerprint.js";
import type { HarnessProfileFields } from "../../lines/harness-profile.kind.js";
import { getRunSetup } from "../../lines/run-setup.js";
import { listResources } from "../../resources/resource.table.js";
import { getTeamKey } from "../../resources/resource-indexes.table.js";
import { runRef, type StartRun } from "../../runs/run.messages.js";
import { toRunNeeds } from "../../tasks/next-run.js";
import type { SearchInputRow, SearchIterationRow, SearchRow } from "../search/search.js";
import { laneOfSearchAgent } from "../search/search.messages.js";
import { searchIterationRef } from "./search-iteration.messages.js";

/** Timeout of the agent's run, in minutes. */
const AGENT_MINUTES = 60;

/**
 * Queues a run of the search's agent for an iteration. The run uses the station's pool and labels. It has no checkout,
 * setup or tools. Returns the run's id.
 */
export function queueAgent(
  turn: Turn,
  { search, input }: { readonly search: SearchRow; readonly input: SearchInputRow },
  { id, kind }: SearchIterationRow,
): string {
  const { partition } = turn.self;
  const { teamId, lineId, stationId, stationKey, agent } = search;
  const runId = turn.newId("run");
  const config = toAgentConfig(turn, search, input);
  const start: StartRun = {
    type: "run.start",
    owner: { kind: "search", id },
    ownerAddress: searchIterationRef(partition, id),
    lane: laneOfSearchAgent(search.id),
    teamId,
    lineId,
    stationId,
    stationKey,
    config,
    fingerprint: toFingerprint(config),
    beginning: {
      line: input.line,
      station: { name: input.block.name, passesTo: [], next: [] },
      checkouts: [],
      search: { kind },
    },
    needs: toRunNeeds(turn, { runners: input.block.runners, harness: agent.harness }),
  };
  turn.send(runRef(partition, runId), start);
  return runId;
}

/**
 * Returns the agent's config. The search provides the harness, model and effort. The station provides only the key and,
 * if it fits, the profile.
 */
function toAgentConfig(turn: TurnReading, { teamId, agent }: SearchRow, { config }: SearchInputRow): RunConfig {
  const { harness, model, effort } = agent;
  const workspaceId = turn.self.partition;
  const teamKey = getTeamKey(turn, workspaceId, teamId);
  const profile = findProfile(turn, { workspaceId, teamKey }, { harness, station: config.station });
  const { key } = config.station;
  return {
    station: {
      key,
      kind: "work",
      harness,
      model,
      effort,
      profile,
      prompt: "",
      skills: [],
      tools: [],
      judge: null,
      check: null,
      diffs: false,
      decisions: false,
      timeoutMinutes: AGENT_MINUTES,
    },
    repositories: [],
    ...getRunSetup(turn, { workspaceId, teamKey }, { skills: [], profile }),
  };
}

/**
 * Returns the station's profile if it fits the agent's harness. Otherwise returns the team's profile for that harness
 * if the team has exactly one; else null.
 */
function findProfile(
  turn: TurnReading,
  { workspaceId, teamKey }: { readonly workspaceId: string; readonly teamKey: string },
  { harness, station }: { readonly harness: string; readonly station: RunConfig["station"] },
): string | null {
  const ofTeam = listResources<HarnessProfileFields>(turn, workspaceId, "harness-profile", { under: teamKey });
  const fitting = ofTeam.filter(({ fields }) => fields.harness === harness).map(({ fields }) => fields.key);
  if (station.profile !== null && fitting.includes(station.profile)) return station.profile;
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}
