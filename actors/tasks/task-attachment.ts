import { z } from "zod";
import type { Stored } from "../view.js";

/** The states of a file that an integration event attached to a task. */

export const attachmentStates = ["waiting", "stored", "failed"] as const;

/** An attachment of a task in reads and streams. */
export const attachmentSchema = z
  .strictObject({
    id: z.string().describe("The id of the attachment (`att_…`)."),
    name: z.string().describe("A file name, unique in the task."),
    type: z.string().describe("The media type that the event or the host reported, such as `image/png`."),
    state: z
      .enum(attachmentStates)
      .describe("`waiting`: the service fetches the file. `stored`: the file can be read. `failed`: see `reason`."),
    reason: z.string().nullable().describe("Why the service could not fetch the file; null in other states."),
    bytes: z.int().nullable().describe("The size of the file, in bytes; null until the file is stored."),
    at: z.string().describe("When the event attached the file, as an RFC 3339 time."),
  })
  .meta({ title: "attachment of a task" });

/** An attachment that is stored, waits for its fetch, or failed. */
export interface TaskAttachmentRow extends Stored<typeof attachmentSchema> {
  readonly taskId: string;
  /** The key of the event that attached the file. */
  readonly raise: string;
  /** Digest of the body (SHA-256, hex); null until the file is stored. */
  readonly digest: string | null;
}

/** Maximum number and total bytes of the files of one event. */
export const MAX_EVENT_FILES = 20;
export const MAX_EVENT_BYTES = 50 * 1024 * 1024;
/** Maximum number and total bytes of the files of a task. */
export const MAX_TASK_FILES = 200;
export const MAX_TASK_BYTES = 200 * 1024 * 1024;

const MAX_NAME_BYTES = 120;
const ANY_TYPE = "application/octet-stream";

/**
 * Converts the last part of a path to a safe file name: no path characters, no leading dots. Returns `file` if nothing
 * remains.
 */
export function toAttachmentName(text: string): string {
  const last = text.split(/[/\\]/).at(-1) ?? "";
  const plain = last
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}<>:"|?*]/gu, "")
    .replace(/^[\s.]+|[\s.]+$/g, "");
  return plain === "" ? "file" : cutName(plain, MAX_NAME_BYTES);
}

/** Returns the name, with a number before its extension if the name is taken. The comparison ignores case. */
export function toFreeName(name: string, taken: readonly string[]): string {
  const lower = new Set(taken.map((one) => one.toLowerCase()));
  const { stem, ending } = splitName(name);
  let free = name;
  for (let n = 2; lower.has(free.toLowerCase()); n++) free = `${stem}-${n}${ending}`;
  return free;
}

/** Returns a media type without its parameters; `application/octet-stream` for any invalid text. */
export function toMediaType(text: string | null): string {
  const [type = ""] = (text ?? "").split(";");
  return /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(type.trim()) ? type.trim().toLowerCase() : ANY_TYPE;
}

function splitName(name: string): { readonly stem: string; readonly ending: string } {
  const [ending = ""] = /\.[A-Za-z0-9]{1,10}$/.exec(name) ?? [];
  return { stem: name.slice(0, name.length - ending.length), ending };
}

/** Shortens the name before its extension, at a character boundary. */
function cutName(name: string, maxBytes: number): string {
  const { stem, ending } = splitName(name);
  let shortened = stem;
  while (Buffer.byteLength(shortened) + ending.length > maxBytes) shortened = [...shortened].slice(0, -1).join("");
  return `${shortened}${ending}`;
}
