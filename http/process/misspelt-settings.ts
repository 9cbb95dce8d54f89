import { nearest } from "../../actors/expressions/suggest.js";
import { settings } from "./config.js";

/** Names of the service's settings: everything that it reads from its environment or the file of settings. */
export const settingNames: readonly string[] = Object.keys(settings);

/** Names that the product's other programs read, or give to the programs that they start. None is a setting of the service. */
export const otherNames: readonly string[] = [
  // The runner and `signalbox check`.
  ...["SIGNALBOX_POOL_TOKEN", "SIGNALBOX_TOKEN", "SIGNALBOX_TRUST", "SIGNALBOX_URL"],
  // What the runner gives to agents.
  ...["SIGNALBOX_RUN", "SIGNALBOX_TASK", "SIGNALBOX_STATION", "SIGNALBOX_CHECKOUTS", "SIGNALBOX_CONTEXT_FILE"],
  ...["SIGNALBOX_PROMPT_FILE", "SIGNALBOX_TASK_FILE", "SIGNALBOX_MCP_CONFIG", "SIGNALBOX_SKILLS", "SIGNALBOX_SEARCH"],
  ...["SIGNALBOX_ATTACHMENTS", "SIGNALBOX_MARK"],
];

const PREFIX = "SIGNALBOX_";
/** Most edits between a misspelt name and the one that is meant: short names are like too many others. */
const MOST_EDITS = [
  { upTo: 9, edits: 1 },
  { upTo: 15, edits: 2 },
] as const;
const MOST_EDITS_OF_LONG = 3;

/** A name that is no setting. */
export interface UnknownSetting {
  readonly name: string;
  /** The setting that was probably meant; null where none is like it. */
  readonly meant: string | null;
}

/**
 * The names in an environment that look like a setting and are none: misspelt, in other letters, with the product's name
 * before it, or with more behind it. Most of an environment is for other programs, and is passed over.
 */
export function findMisspelt(environment: Readonly<Record<string, string | undefined>>): readonly UnknownSetting[] {
  return listUnknown(environment).filter(({ name, meant }) => meant !== null || name.startsWith(PREFIX));
}

/** The names that are no setting, each with the one that is probably meant; empty ones are not set. */
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
  const near = nearest(bare, settingNames, mostEdits(bare));
  if (near !== null || !plain.startsWith(PREFIX)) return near ?? findBegun(bare);
  return nearest(plain, otherNames, mostEdits(plain)) ?? findBegun(bare);
}

/** The setting of several words that the name begins with, such as that of `METRICS_TOKEN_FILE`. */
function findBegun(name: string): string | null {
  return settingNames.find((setting) => setting.includes("_") && name.startsWith(setting)) ?? null;
}

function mostEdits({ length }: string): number {
  return MOST_EDITS.find(({ upTo }) => length <= upTo)?.edits ?? MOST_EDITS_OF_LONG;
}
