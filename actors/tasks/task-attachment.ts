/** A file that an event of an integration attached to a task. */

export const attachmentStates = ["waiting", "stored", "failed"] as const;

/** A stored attachment, or one that is still to be fetched, or that could not be. */
export interface TaskAttachmentRow {
  readonly taskId: string;
  readonly id: string;
  /** What it was attached with: the key under which the event raised it. */
  readonly raise: string;
  /** A file name without folders, unique in its task. */
  readonly name: string;
  readonly type: string;
  readonly state: (typeof attachmentStates)[number];
  /** Why it could not be fetched; null unless it failed. */
  readonly reason: string | null;
  /** Its length; null until it is stored. */
  readonly bytes: number | null;
  /** The digest of its body (SHA-256, hex); null until it is stored. */
  readonly digest: string | null;
  readonly at: string;
}

/** Most files of one event, and their bytes. */
export const MAX_EVENT_FILES = 20;
export const MAX_EVENT_BYTES = 50 * 1024 * 1024;
/** Most files of a task, and their bytes. */
export const MAX_TASK_FILES = 200;
export const MAX_TASK_BYTES = 200 * 1024 * 1024;

const MAX_NAME_BYTES = 120;
const ANY_TYPE = "application/octet-stream";

/** The last part of a path as a file name that leads nowhere and hides nothing; `file` where nothing is left of it. */
export function toAttachmentName(text: string): string {
  const last = text.split(/[/\\]/).at(-1) ?? "";
  const plain = last
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}<>:"|?*]/gu, "")
    .replace(/^[\s.]+|[\s.]+$/g, "");
  return plain === "" ? "file" : cutName(plain, MAX_NAME_BYTES);
}

/** The name, with a number before its ending where it is taken; names differ by more than their case. */
export function toFreeName(name: string, taken: readonly string[]): string {
  const lower = new Set(taken.map((one) => one.toLowerCase()));
  const { stem, ending } = splitName(name);
  let free = name;
  for (let n = 2; lower.has(free.toLowerCase()); n++) free = `${stem}-${n}${ending}`;
  return free;
}

/** A media type without parameters; `application/octet-stream` for anything else. */
export function toMediaType(text: string | null): string {
  const [type = ""] = (text ?? "").split(";");
  return /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(type.trim()) ? type.trim().toLowerCase() : ANY_TYPE;
}

function splitName(name: string): { readonly stem: string; readonly ending: string } {
  const [ending = ""] = /\.[A-Za-z0-9]{1,10}$/.exec(name) ?? [];
  return { stem: name.slice(0, name.length - ending.length), ending };
}

/** Cuts the name at a character, before its ending. */
function cutName(name: string, mostBytes: number): string {
  const { stem, ending } = splitName(name);
  let kept = stem;
  while (Buffer.byteLength(kept) + ending.length > mostBytes) kept = [...kept].slice(0, -1).join("");
  return `${kept}${ending}`;
}
