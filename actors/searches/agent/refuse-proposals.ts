import type { StationBody } from "../../lines/station.js";
import type { FieldError } from "../../refusal.js";
import { canonicalJson } from "../../resources/canonical-json.js";
import type { Proposal } from "./proposal.js";

/** The name of the live config among the candidates of its search. */
export const SEED = "seed";

/** Maximum number of faults in one answer. */
const MAX_FAULTS = 200;

/** The data that new candidates are compared with. */
export interface ProposalContext {
  /** The station block that the search stored at its start. */
  readonly live: StationBody;
  /** Number of candidates that this agent run may still propose. */
  readonly left: number;
  /** The running fingerprints of the search's candidates and its seed, by name. */
  readonly known: ReadonlyMap<string, string>;
  /** Validates a block as the station of its line. Returns the errors, with paths under `station`. */
  check(block: StationBody): readonly FieldError[];
  /** Returns a block's running fingerprint. Called only for blocks without errors. */
  toFingerprint(block: StationBody): string;
}

/** The fields for scoring and placement. All candidates of a search have the same values. */
const FIXED_FIELDS = ["check", "judge", "runners", "diffs"] as const;

/** A candidate that may be replayed. */
export interface Admitted extends Proposal {
  /** The running fingerprint of the candidate's config. */
  readonly runningFingerprint: string;
}

/**
 * Admits all candidates or none. Returns the candidates with their fingerprints, or the faults with paths `[i].…`. If
 * there are more candidates than allowed, returns only this fault.
 */
export function admitProposals(
  candidates: readonly Proposal[],
  context: ProposalContext,
): { readonly admitted: readonly Admitted[] } | { readonly faults: readonly FieldError[] } {
  const { left } = context;
  if (candidates.length > left) return { faults: [{ path: `[${left}]`, message: leftMessage(left) }] };
  const known = new Map(context.known);
  const admitted: Admitted[] = [];
  const faults = candidates.flatMap((proposal, index) => {
    const found = [...nameFaults(proposal, known), ...blockFaults(proposal, context)];
    if (found.length > 0) return found.map(({ path, message }) => ({ path: `[${index}].${path}`, message }));
    const runningFingerprint = context.toFingerprint(proposal.station);
    const same = [...known].find(([, fingerprint]) => fingerprint === runningFingerprint);
    known.set(proposal.name, runningFingerprint);
    admitted.push({ ...proposal, runningFingerprint });
    return same === undefined ? [] : [{ path: `[${index}].station`, message: sameMessage(same[0]) }];
  });
  return faults.length === 0 ? { admitted } : { faults: faults.slice(0, MAX_FAULTS) };
}

function leftMessage(left: number): string {
  if (left === 0) return "is one too many: this run may propose no more candidates";
  return `is one too many: this run may propose ${left} more ${left === 1 ? "candidate" : "candidates"}`;
}

function sameMessage(name: string): string {
  if (name === SEED) return "changes nothing that affects how runs of the live config go";
  return `goes like the candidate \`${name}\`: nothing that affects its runs differs`;
}

function nameFaults({ name }: Proposal, known: ReadonlyMap<string, string>): FieldError[] {
  if (name === SEED) return [{ path: "name", message: "cannot be `seed`, which is the live config" }];
  return known.has(name) ? [{ path: "name", message: "is taken by another candidate of this search" }] : [];
}

function blockFaults({ station }: Proposal, { live, check }: ProposalContext): readonly FieldError[] {
  const changed = FIXED_FIELDS.filter((field) => canonicalJson(station[field]) !== canonicalJson(live[field]));
  const fixedFaults = changed.map((field) => ({
    path: `station.${field}`,
    message: "must stay as the live config has it: it is the same for all candidates of a search",
  }));
  const profile = profileFaults(station, live);
  const found = check(station).filter(({ path }) => profile.every((fault) => fault.path !== path));
  return [...fixedFaults, ...found, ...profile];
}

/**
 * Refuses a profile other than the live config's; null is allowed. Replays start without a person's review, with the
 * profile's secrets, under a prompt that an agent wrote.
 */
function profileFaults({ profile }: StationBody, live: StationBody): FieldError[] {
  if (profile === null || profile === live.profile) return [];
  return [{ path: "station.profile", message: "must be the profile of the live config, or null" }];
}
