import type { Clock } from "../../../runtime/clock.js";
import type { RunSignal } from "../../../runtime/run-signal.js";
import type { StationBody } from "../../lines/station.js";

/** An entry of a repository, as its trees hold it. */
export interface TreeEntry {
  /** From the root of the repository, parts joined by `/`. */
  readonly path: string;
  readonly kind: "file" | "folder" | "symlink" | "submodule";
  /** What a symlink holds: a path from its own folder. Absent for anything else, and where it was not read. */
  readonly leadsTo?: string;
}

/** A repository at one commit. What it answers stays the same for as long as an edit lasts. */
export interface SourceTree {
  /**
   * Every entry of the repository. `isWhole` is false when the host cut the list: it then has at least the entries right
   * within each folder from the root to the one of the line's source.
   */
  list(): Promise<{ readonly entries: readonly TreeEntry[]; readonly isWhole: boolean }>;
  /** The whole text of a file, with its byte order mark, and of a symlink to a file that of its target. Null for none. */
  read(path: string): Promise<string | UnreadFile | null>;
}

/** A file that is there and was not read as text, and why: `encoding` is any text that is neither UTF-8 nor UTF-16. */
export interface UnreadFile {
  readonly unread: "missing" | "large" | "utf-16" | "binary" | "encoding";
}

/** What the config of a station is to become. */
export interface WantedStation {
  /** The path of the line's source in its repository. */
  readonly path: string;
  /** The team that holds the line. */
  readonly team: { readonly id: string; readonly key: string };
  readonly lineKey: string;
  /** The repository, `owner/name`: sources of modules name it. Absent where that is not known. */
  readonly repository?: string;
  /** The station as the line holds it, and as the candidate does. Both have the same key. */
  readonly live: Omit<StationBody, "id">;
  readonly wanted: Omit<StationBody, "id">;
}

/** What an edit runs with. */
export interface EditRun {
  readonly clock: Clock;
  /** Ends it early: the edit rejects with the signal's reason. */
  readonly signal: RunSignal;
}

/** A file that changes. Both texts are whole, as UTF-8. */
export interface FileEdit {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Why a station cannot be edited.
 *
 * - `not-found`: there is no such file, line or station, or no file that an attribute reads.
 * - `not-hcl`: the source is no HCL.
 * - `ambiguous`: more than one place may give the value, or one place more than this value.
 * - `computed`: an expression gives the value.
 * - `changed-meanwhile`: the source holds another value than the live config.
 * - `not-proven`: the edited source could not be shown to differ in the wanted values alone, or to have an effect.
 */
type EditRefusalCode = "not-found" | "not-hcl" | "ambiguous" | "computed" | "changed-meanwhile" | "not-proven";

/** Why nothing is edited, for people; `message` says the place as `path:line` where there is one. */
export interface EditRefusal {
  readonly code: EditRefusalCode;
  readonly message: string;
  /** The attribute of the station, `judge.rubric`, or of the resource; null when it is about none. */
  readonly attribute: string | null;
  /** What computes it, as it is written, whole. */
  readonly expression: string | null;
  /**
   * The value to set by hand: a text as it is, anything else in HCL; several with their names, a line each. It may be as long
   * as a prompt, and as secret.
   */
  readonly wanted: string | null;
}

export type EditOutcome = { readonly files: readonly FileEdit[] } | { readonly refused: EditRefusal };
