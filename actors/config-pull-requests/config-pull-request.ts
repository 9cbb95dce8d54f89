/** The states of a config pull request (replays, States and transitions). */
export const configPullRequestStates = ["opening", "opened", "refused"] as const;
type ConfigPullRequestState = (typeof configPullRequestStates)[number];

/** The reasons why none could be opened. `config-pull-request.view.ts` explains each. */
export const openingRefusals = [
  ...(["no-source", "no-connection", "not-found", "not-hcl", "ambiguous", "computed"] as const),
  ...(["changed-meanwhile", "no-access", "branch-taken", "not-proven"] as const),
] as const;

/**
 * The reason why none was opened, for people. The last three members name the value to set manually; they are null if
 * the reason is not about a single value.
 */
export interface OpeningRefusal {
  readonly code: (typeof openingRefusals)[number];
  readonly message: string;
  /** The station's attribute to set. */
  readonly attribute: string | null;
  /** The infrastructure expression that computes the attribute. */
  readonly expression: string | null;
  /** The value to set. Null also if it is longer than {@link MAX_WANTED_CHARACTERS}. */
  readonly wanted: string | null;
}

/** Maximum length of a value in a refusal, in characters. */
export const MAX_WANTED_CHARACTERS = 2_000;

/** The file that defines a line's config. */
export interface ConfigSource {
  /** `owner/name` */
  readonly repository: string;
  readonly path: string;
}

/** The candidate of a search that a person picked. */
export interface PickedCandidate {
  readonly teamId: string;
  readonly searchId: string;
  readonly candidateId: string;
  readonly candidateName: string;
  readonly lineId: string;
  readonly stationId: string;
  readonly stationKey: string;
}

/** A pull request that changes a line's config to that of a candidate from a search. */
export interface ConfigPullRequestRow extends PickedCandidate {
  readonly id: string;
  readonly state: ConfigPullRequestState;
  /** The URL for people; null unless it is opened. */
  readonly url: string | null;
  /** Null unless it is refused. */
  readonly reason: OpeningRefusal | null;
  /** The line's source at the last pick; null if the line had none. */
  readonly source: ConfigSource | null;
  /** The branch for the commits, the same in every attempt. */
  readonly branch: string;
  /** Number of times that people picked it. */
  readonly attempts: number;
  /** The end of the code host's rate limit; absent or null without a wait. */
  readonly waitsUntil?: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/**
 * Maximum length of a branch name before the end of its id, in characters. The host stores a ref as a file, whose name
 * has at most 255 bytes.
 */
const MAX_NAME_LENGTH = 200;

/**
 * Returns the branch name: `config/<line>-<station>-<candidate>-<last 8 of its id>`. Invalid characters become hyphens,
 * and long names are cut.
 */
export function toBranch({
  lineKey,
  stationKey,
  candidateName,
  id,
}: Pick<ConfigPullRequestRow, "stationKey" | "candidateName" | "id"> & { readonly lineKey: string }): string {
  const name = toRefText(`${lineKey}-${stationKey}-${candidateName}`).slice(0, MAX_NAME_LENGTH);
  return `config/${name}-${toRefText(id.slice(-8))}`;
}

/** Converts a text to letters, digits, single dots, hyphens and underscores, without a dot at the start or end. */
function toRefText(text: string): string {
  return text
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/^\.|\.$/g, "-");
}
