import type { Reading } from "../../../storage/store.js";
import type { MadeResource } from "../../resources/kind.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import { findWorkspaceOf } from "../../resources/resource-location.table.js";
import type { CandidateKind, ReplayRow } from "../replay/replay.js";
import { replays } from "../replay/replay.table.js";
import { getReplayInput } from "../replay/replay-input.table.js";
import { MADE_CANDIDATE, madeCandidates } from "./made-candidate.table.js";

/** Why a candidate that the service made cannot be withdrawn. */
const uses: Readonly<Record<Exclude<CandidateKind, "proposed">, string>> = {
  live: "It is the station's config that a replay was started with. Deleting the replay set removes it.",
  planned: "A replay check created it. It is removed together with that check.",
  searched: "A search created it. It is removed together with that search.",
  "with-answer": "It is replayed with the answer. Deleting the replay set removes it.",
};

/** Finds a candidate that the service made. Its resource can be read only for a replay of the live config. */
export function findMadeCandidate(reading: Reading, id: string): MadeResource | undefined {
  const workspaceId = findWorkspaceOf(reading, MADE_CANDIDATE, id);
  if (workspaceId === undefined) return undefined;
  const made = madeCandidates.get(reading, workspaceId, id);
  if (made?.teamId !== undefined) return { workspaceId, teamId: made.teamId, row: null, use: uses.searched };
  const replay = replays.get(reading, workspaceId, made?.replayId ?? "");
  if (replay === undefined || replay.candidate.kind === "proposed") return undefined;
  const { kind } = replay.candidate;
  const row = kind === "live" ? toResource(reading, workspaceId, replay) : null;
  return { workspaceId, teamId: replay.teamId, row, use: uses[kind] };
}

function toResource(reading: Reading, workspaceId: string, replay: ReplayRow): ResourceRow {
  const { candidate, teamId, lineId, stationId, fingerprint, createdAt } = replay;
  const { config, block, stationAddress } = getReplayInput(reading, workspaceId, replay.id);
  const { id, name } = candidate;
  return {
    id,
    kind: "replay-candidate",
    version: 1,
    workspaceId,
    teamId,
    address: `${stationAddress}/${name}`,
    fields: { name, station: { ...config.station, ...block } },
    hidden: {},
    createdAt,
    updatedAt: createdAt,
    added: {
      lineId,
      stationId,
      stationAddress,
      kind: "live",
      fingerprint,
      createdAt,
      changedFrom: { fingerprint, changes: [] },
    },
  };
}
