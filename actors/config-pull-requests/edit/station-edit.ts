import type { Clock } from "../../../runtime/clock.js";
import type { RunSignal } from "../../../runtime/effects/run-signal.js";
import type { StationBody } from "../../lines/station.js";

/** An entry of a repository's git tree. */
export interface TreeEntry {
  /** The path from the repository's root, with `/` as separator. */
  readonly path: string;
  readonly kind: "file" | "folder" | "symlink" | "submodule";
  /** A symlink's target, relative to its own folder. Absent for other entries, and if the target was not read. */
  readonly leadsTo?: string;
}

/** A repository at one commit. Its answers do not change during an edit. */
export interface SourceTree {
  /**
   * Lists the entries of the repository. `isWhole` is false if the host truncated the list. The list then contains at
   * least the direct entries of each folder from the root down to the folder of the line's source.
   */
  list(): Promise<{ readonly entries: readonly TreeEntry[]; readonly isWhole: boolean }>;
  /**
   * Reads the whole text of a file, with its byte order mark. For a symlink to a file, reads its target. Null if
   * absent.
   */
  read(path: string): Promise<string | UnreadFile | null>;
}

/** Why a file was not read as text. `encoding`: the text is neither UTF-8 nor UTF-16. */
export interface UnreadFile {
  readonly unread: "missing" | "large" | "utf-16" | "binary" | "encoding";
}

/** The line, the live station and the station to write. */
export interface WantedStation {
  /** The path of the line's source in its repository. */
  readonly path: string;
  /** The team that owns the line. */
  readonly team: { readonly id: string; readonly key: string };
  readonly lineKey: string;
  /** The repository, `owner/name`. Module sources may name it. Absent if unknown. */
  readonly repository?: string;
  /** The target branch of the edit. Module sources may name it. Absent if unknown. */
  readonly branch?: string;
  /** The line's live station. `wanted` is the candidate's station. Both have the same key. */
  readonly live: Omit<StationBody, "id">;
  readonly wanted: Omit<StationBody, "id">;
}

/** The clock and signal that an edit uses. */
export interface EditRun {
  readonly clock: Clock;
  /** Aborts the edit. The edit then rejects with the signal's reason. */
  readonly signal: RunSignal;
}

/** A changed file. Both texts are complete and in UTF-8. */
export interface FileEdit {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Why a station cannot be edited.
 *
 * - `not-found`: the file, the line, the station, or a file that an attribute reads does not exist, or is not UTF-8
 *   text of at most 1 MiB. Also: the line belongs to another team.
 * - `not-hcl`: the source is not HCL.
 * - `ambiguous`: more than one place may give the value, or one place gives more than this value. Also: the edit would
 *   delete a comment, or add or remove blocks.
 * - `computed`: an expression gives the value.
 * - `changed-meanwhile`: the source has another value than the live config, or already the wanted one.
 * - `not-proven`: the edit could not be proven to change only the wanted values, or to have an effect. Also: the source
 *   nests too deeply, or the edit takes too long.
 */
type EditRefusalCode = "not-found" | "not-hcl" | "ambiguous" | "computed" | "changed-meanwhile" | "not-proven";

/** Why an edit is refused, for people. `message` gives the place as `path:line` if there is one. */
export interface EditRefusal {
  readonly code: EditRefusalCode;
  readonly message: string;
  /** The attribute of the station, such as `judge.rubric`, or of the resource; null if no attribute is concerned. */
  readonly attribute: string | null;
  /** The complete text of the expression that the refusal concerns; null if there is none. */
  readonly expression: string | null;
  /**
   * The value for the user to set by hand: a string as plain text, any other value in HCL. If there are several values,
   * each is on its own line, with its name. The text can be as long as a prompt, and as confidential.
   */
  readonly wanted: string | null;
}

export type EditOutcome = { readonly files: readonly FileEdit[] } | { readonly refused: EditRefusal };
