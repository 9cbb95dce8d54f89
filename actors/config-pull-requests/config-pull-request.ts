/** The states of a config pull request (replays, States and transitions). */
export const configPullRequestStates = ["opening", "opened", "refused"] as const;
type ConfigPullRequestState = (typeof configPullRequestStates)[number];

/** Why none could be opened; `config-pull-request.view.ts` says what each means. */
export const openingRefusals = [
  ...(["no-source", "no-connection", "not-found", "not-hcl", "ambiguous", "computed"] as const),
  ...(["changed-meanwhile", "no-access", "branch-taken", "not-proven"] as const),
] as const;

/** Why none was opened, for people. The last three name what is to be set by hand; null where that is no single thing. */
export interface OpeningRefusal {
  readonly code: (typeof openingRefusals)[number];
  readonly message: string;
  /** The station's attribute. */
  readonly attribute: string | null;
  /** The infrastructure expression that computes it. */
  readonly expression: string | null;
  /** The value to set; null also where it is longer than {@link MAX_WANTED_CHARACTERS}. */
  readonly wanted: string | null;
}

/** Longest value that a refusal names, in characters. */
export const MAX_WANTED_CHARACTERS = 2_000;

/** Where a line's config is written. */
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

/** A pull request that changes a line's config to what a candidate of a search holds. */
export interface ConfigPullRequestRow extends PickedCandidate {
  readonly id: string;
  readonly state: ConfigPullRequestState;
  /** Its address for people; null unless it is opened. */
  readonly url: string | null;
  /** Null unless it is refused. */
  readonly reason: OpeningRefusal | null;
  /** The line's source when it was last picked; null when the line named none. */
  readonly source: ConfigSource | null;
  /** The branch that is committed to, the same each time. */
  readonly branch: string;
  /** How often people picked it. */
  readonly attempts: number;
  /** Until when the code host takes no more; absent or null while nothing waits for it. */
  readonly waitsUntil?: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Most characters of a branch before the end of its id: a ref is a file of the host, names to 255 bytes. */
const MAX_NAME_LENGTH = 200;

/**
 * The branch of a config pull request: `config/<line>-<station>-<candidate>-<last 8 of its id>`. What a branch name may
 * not hold is a dash; long names are cut.
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

/** Text of letters, digits, single dots, dashes and underscores alone, which neither begins nor ends with a dot. */
function toRefText(text: string): string {
  return text
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/^\.|\.$/g, "-");
}
