import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import { hasHiddenCharacters } from "../../hidden-characters.js";
import { type RunConfig, runConfig, toFingerprint } from "../../lines/fingerprint.js";
import type { LineFields } from "../../lines/line.js";
import { getRunSetup } from "../../lines/run-setup.js";
import type { Station, StationBlock, StationBody } from "../../lines/station.js";
import { canonicalJson } from "../../resources/canonical-json.js";
import type { HolderLocation, Kind, MadeResource, StationHolder, Warning, WriteScope } from "../../resources/kind.js";
import { findResource, type ResourceRow } from "../../resources/resource.table.js";
import { findOwningWorkspace } from "../../resources/resource-location.table.js";
import type { CandidateKind, ReplayRow } from "../replay/replay.js";
import { listUnderWay, replays } from "../replay/replay.table.js";
import { getReplayInput } from "../replay/replay-input.table.js";
import { proposedBlockSchema, resolveBlock } from "../starting/live-block.js";
import { checkBlock, type LineRow } from "./candidate-rules.js";
import { changeParts, listConfigChanges } from "./config-changes.js";
import { MADE_CANDIDATE, madeCandidates } from "./made-candidate.table.js";

/** Why a candidate that the service made cannot be withdrawn. */
const uses: Readonly<Record<Exclude<CandidateKind, "proposed">, string>> = {
  live: "It is the station's config that a replay was started with. Deleting the replay set removes it.",
  planned: "A replay check created it. It is removed together with that check.",
  searched: "A search created it. It is removed together with that search.",
  "with-answer": "It is replayed with the answer. Deleting the replay set removes it.",
};

/**
 * Finds a candidate that the service made. Returns undefined if there is none. `row` has a resource only for the live
 * config of a replay; it is null for all other candidates.
 */
export function findMadeCandidate(reading: Reading, id: string): MadeResource | undefined {
  const workspaceId = findOwningWorkspace(reading, MADE_CANDIDATE, id);
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

/** Reserved prefixes of candidate names. The service uses them for the candidates that it creates itself. */
const reservedPrefixes = ["Live config", "Planned change", "With the answer"] as const;

const name = z
  .string()
  .superRefine((text, context) => {
    const message = nameFault(text);
    if (message !== null) context.addIssue({ code: "custom", message });
  })
  .describe("Unique name at the station: 1 to 100 characters, without `/` or a reserved prefix.");

function nameFault(text: string): string | null {
  if (text.length < 1 || text.length > 100) return "Candidate name must be 1 to 100 characters.";
  if (text !== text.trim()) return "Candidate name cannot start or end with a space.";
  if (text.includes("/")) return "Candidate name cannot contain /.";
  if (hasHiddenCharacters(text)) return "Candidate name cannot contain control characters.";
  const reserved = reservedPrefixes.find((prefix) => text.toLowerCase().startsWith(prefix.toLowerCase()));
  return reserved === undefined ? null : `Candidate name cannot start with the reserved prefix \`${reserved}\`.`;
}

const schema = z.strictObject({
  name,
  station: proposedBlockSchema,
});

/** A candidate in a request body. */
type ReplayCandidateBody = z.output<typeof schema>;

/** A stored candidate, whose block is complete. */
export type ReplayCandidateFields = Omit<ReplayCandidateBody, "station"> & { readonly station: StationBody };

const fingerprint = z.string().describe("A hash of everything that affects a run.");

/** One difference between two configs of a station. */
export const configChangeSchema = z.strictObject({
  part: z.enum(changeParts).describe("Part of the config that differs, such as `prompt` or `skill`."),
  name: z.string().nullable().describe("Which skill, tool or repository differs; null for parts without names."),
  kind: z.enum(["added", "removed", "changed"]).describe("How the part differs from the earlier config."),
  was: z
    .unknown()
    .describe(
      "Null if it is hidden or absent. Always hidden: prompts, rubrics, claims, and contents of " +
        "skills and profiles.",
    ),
  now: z.unknown().describe("Null if it is hidden, as in `was`, or absent."),
});

/** The resource kind of a station block that is proposed for replays. It is never applied to the line. */
export const replayCandidateKind: Kind<ReplayCandidateBody> = {
  name: "replay-candidate",
  plural: "replay-candidates",
  idPrefix: "cand",
  heldBy: "station",
  locateStation: stationPlace,
  isNeverReplaced: true,
  seenBy: "outcomes",
  permission: "plan",
  schema,
  fixed: [],
  hcl: null,
  hidden: [],
  address: (fields, station) => `${station}/${fields.name}`,
  // A proposal has no references, so it never blocks a change of the configuration.
  references: () => [],
  validate: (fields, scope) => {
    const found = findStation(scope);
    if (found === null) return [];
    const { line, live } = found;
    return checkBlock(resolveBlock(fields.station, live), line, { stationKey: live.key, scope });
  },
  warnings: ({ station: block }, reading, { workspaceId, added: { kind, lineId, stationId } }) => {
    const line = kind === "proposed" ? findLine(reading, workspaceId, String(lineId)) : undefined;
    const live = line?.fields.stations.find(({ id }) => id === stationId);
    return live === undefined ? [] : candidateWarnings(resolveBlock(block, live), live);
  },
  findMade: findMadeCandidate,
  inUse: (row, reading) => {
    const underWay = listUnderWay(reading, row.workspaceId, { teamId: row.teamId ?? "" });
    const isReplayed = underWay.some(({ candidate }) => candidate.id === row.id);
    return isReplayed ? `A replay of the replay-candidate ${row.address} is under way.` : null;
  },
  added: {
    // In responses, the name may also have a reserved prefix.
    name: z.string().describe("Name of the candidate, 1 to 100 characters, unique at its station."),
    lineId: z.string().describe("Id of the line that contains the station."),
    stationId: z.string().describe("Id of the station that the candidate is proposed for."),
    stationAddress: z.string().describe("Address of that station: `<team key>/<line key>/<station key>`."),
    kind: z.enum(["proposed", "live"]).describe("`live`: the station's config at the start of a replay."),
    fingerprint,
    changedFrom: z
      .strictObject({
        fingerprint,
        changes: z
          .array(configChangeSchema)
          .describe(
            "The block's changes to the station as it was when the candidate was created. Omits `check`, " +
              "`diffs`, `timeoutMinutes`, `runners`, `name`, `passesTo` and `alerts`; `warnings` say where the " +
              "first four differ from the current station.",
          ),
      })
      .describe("How the proposed block differs from the live station at the create."),
    createdAt: z.string().describe("RFC 3339 time at which the candidate was created."),
  },
  complete: completeCandidate,
};

function stationPlace(
  reading: Reading,
  workspaceId: string,
  { lineId, stationKey }: StationHolder,
): HolderLocation | null {
  const line = findLine(reading, workspaceId, lineId);
  const station = line?.fields.stations.find(({ key }) => key === stationKey);
  return line === undefined || station === undefined
    ? null
    : { address: `${line.address}/${station.key}`, teamId: line.teamId };
}

/** Completes the candidate for storage, with the differences from the current station. */
function completeCandidate(fields: ReplayCandidateBody, scope: WriteScope<ReplayCandidateBody>) {
  const found = findStation(scope);
  if (found === null) throw new Error("a candidate for a station that is not there");
  const station = resolveBlock(fields.station, found.live);
  return { fields: { ...fields, station }, added: addedTo(station, found, scope) };
}

function addedTo(block: StationBody, { line, live }: FoundStation, scope: WriteScope<unknown>) {
  const [config, liveConfig] = [configUnder(block, line, scope), configUnder(live, line, scope)];
  return {
    lineId: line.id,
    stationId: live.id,
    stationAddress: `${line.address}/${live.key}`,
    kind: "proposed",
    fingerprint: toFingerprint(config),
    changedFrom: { fingerprint: toFingerprint(liveConfig), changes: listConfigChanges(liveConfig, config) },
    createdAt: new Date(scope.now).toISOString(),
  };
}

function configUnder(station: StationBody, line: LineRow, scope: WriteScope<unknown>): RunConfig {
  return runConfig(line.fields, station, getRunSetup(scope.reading, scope, station));
}

/** The line of a candidate, and the station that its block is proposed for. */
interface FoundStation {
  readonly line: LineRow;
  readonly live: Station;
}

function findStation({ reading, workspaceId, station }: WriteScope<unknown>): FoundStation | null {
  const line = station === null ? undefined : findLine(reading, workspaceId, station.lineId);
  const live = line?.fields.stations.find(({ key }) => key === station?.stationKey);
  return line === undefined || live === undefined ? null : { line, live };
}

function findLine(reading: Reading, workspaceId: string, lineId: string): LineRow | undefined {
  return findResource<LineFields>(reading, workspaceId, "line", lineId);
}

type Compared = "check" | "judge" | "timeoutMinutes" | "diffs" | "runners";

/** For each compared field: the consequence if its value differs between the candidate and the live station. */
const consequences: readonly [field: Compared, follows: string][] = [
  ["check", "its copies are scored differently from the baseline's"],
  ["judge", "its copies are scored differently from the baseline's"],
  ["timeoutMinutes", "its copies have a different time limit from the baseline's"],
  ["diffs", "its copies run and are scored the same, with a different fingerprint"],
  ["runners", "its copies may run on different runners from the baseline's"],
];

/**
 * Lists a warning for each compared field whose value in a candidate's block differs from the live station's current
 * value. With most of these differences, the comparison with the baseline no longer measures only the agent's work.
 */
export function candidateWarnings(block: StationBlock, live: Station): readonly Warning[] {
  return consequences.flatMap(([field, follows]) => {
    if (canonicalJson(block[field]) === canonicalJson(live[field])) return [];
    return [
      { path: `station.${field}`, message: `${difference(block, live, field)}: ${follows}`, severity: "warning" },
    ];
  });
}

function difference(block: StationBlock, live: Station, field: Compared): string {
  if (block[field] === null) return `the live station has a ${field}, this block does not`;
  if (live[field] === null) return `the live station has no ${field}, this block does`;
  return "differs from the live station's";
}
