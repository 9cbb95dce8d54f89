import { nearest } from "../../actors/expressions/suggest.js";
import { settings } from "./config.js";

/** The names of the service's settings: everything that it reads from the environment or the settings file. */
export const settingNames: readonly string[] = Object.keys(settings);

/**
 * Names of environment variables that are no settings of the service: other programs of the product read them, or set
 * them for programs that they start.
 */
export const otherNames: readonly string[] = [
  // Read by the runner and `signalbox check`.
  ...["SIGNALBOX_POOL_TOKEN", "SIGNALBOX_TOKEN", "SIGNALBOX_TRUST", "SIGNALBOX_URL"],
  // Passed by the runner to agents.
  ...["SIGNALBOX_RUN", "SIGNALBOX_TASK", "SIGNALBOX_STATION", "SIGNALBOX_CHECKOUTS", "SIGNALBOX_CONTEXT_FILE"],
  ...["SIGNALBOX_PROMPT_FILE", "SIGNALBOX_TASK_FILE", "SIGNALBOX_MCP_CONFIG", "SIGNALBOX_SKILLS", "SIGNALBOX_SEARCH"],
  ...["SIGNALBOX_ATTACHMENTS", "SIGNALBOX_MARK"],
];

const PREFIX = "SIGNALBOX_";
/**
 * Maximum edit distance between a misspelt name and a setting, by name length. Short names resemble too many other
 * names.
 */
const MAX_EDITS = [
  { upTo: 9, edits: 1 },
  { upTo: 15, edits: 2 },
] as const;
const MAX_EDITS_OF_LONG = 3;

/** A name that is not a setting. */
export interface UnknownSetting {
  readonly name: string;
  /** The setting that the name probably means; null if none is similar. */
  readonly meant: string | null;
}

/**
 * Returns the names in an environment that look like a setting but are no setting. A name looks like a setting in these
 * cases:
 *
 * - It is a misspelt setting, or a setting in another letter case.
 * - It starts with a setting's name.
 * - It has the product's prefix.
 *
 * Ignores all other names, because most environment variables are for other programs.
 */
export function findMisspelt(environment: Readonly<Record<string, string | undefined>>): readonly UnknownSetting[] {
  return listUnknown(environment).filter(({ name, meant }) => meant !== null || name.startsWith(PREFIX));
}

/**
 * Returns the names that are neither settings nor {@link otherNames}, each with the setting that it probably means.
 * Ignores empty values.
 */
export function listUnknown(environment: Readonly<Record<string, string | undefined>>): readonly UnknownSetting[] {
  return Object.entries(environment)
    .filter(([name, value]) => value !== undefined && value !== "" && !isKnown(name))
    .map(([name]) => ({ name, meant: findMeant(name) }));
}

function isKnown(name: string): boolean {
  return settingNames.includes(name) || otherNames.includes(name);
}

function findMeant(name: string): string | null {
  const plain = name.toUpperCase().replace(/[-.]/g, "_");
  const bare = plain.startsWith(PREFIX) ? plain.slice(PREFIX.length) : plain;
  if (settingNames.includes(bare)) return bare;
  const near = nearest(bare, settingNames, maxEdits(bare));
  if (near !== null || !plain.startsWith(PREFIX)) return near ?? findPrefix(bare);
  return nearest(plain, otherNames, maxEdits(plain)) ?? findPrefix(bare);
}

/**
 * Returns a setting whose name has several words and is a prefix of `name`, for example `METRICS_TOKEN` for
 * `METRICS_TOKEN_FILE`; null if there is none.
 */
function findPrefix(name: string): string | null {
  return settingNames.find((setting) => setting.includes("_") && name.startsWith(setting)) ?? null;
}

function maxEdits({ length }: string): number {
  return MAX_EDITS.find(({ upTo }) => length <= upTo)?.edits ?? MAX_EDITS_OF_LONG;
}
