import { z } from "zod";

/**
 * Identifies a file for the agent by its subject. The file's name in URLs contains this identity, so the service can
 * create one file without the others.
 */
export type FileName =
  | { readonly kind: "brief" }
  | { readonly kind: "candidate"; readonly candidateId: string }
  | { readonly kind: "task"; readonly taskId: string }
  | CopyFileName;

/** Identifies a file about a copy of a searched run: its result, or its change. */
export interface CopyFileName {
  readonly kind: "result" | "diff";
  readonly candidateId: string;
  /** The place of the copy's run in the set, and the copy's number. */
  readonly place: number;
  readonly repeat: number;
}

const id = "[A-Za-z0-9_-]{1,100}";
const FORMS = new RegExp(`^(?:(brief)|(candidate|task)\\.(${id})|(result|diff)\\.(${id})\\.(\\d{1,4})\\.(\\d{1,2}))$`);
const copyKind = z.enum(["result", "diff"]);

/** Returns the file's name for URLs, which needs no escaping. */
export function fileNameText(name: FileName): string {
  switch (name.kind) {
    case "brief":
      return "brief";
    case "candidate":
      return `candidate.${name.candidateId}`;
    case "task":
      return `task.${name.taskId}`;
    case "result":
    case "diff":
      return `${name.kind}.${name.candidateId}.${name.place}.${name.repeat}`;
  }
}

/** Parses a file's name in a URL. Returns null if the text is not a file name. */
export function parseFileName(text: string): FileName | null {
  const [, brief, about, aboutId = "", of, candidateId = "", place, repeat] = FORMS.exec(text) ?? [];
  if (brief !== undefined) return { kind: "brief" };
  if (about === "candidate") return { kind: "candidate", candidateId: aboutId };
  if (about === "task") return { kind: "task", taskId: aboutId };
  const kind = copyKind.safeParse(of).data;
  return kind === undefined ? null : { kind, candidateId, place: Number(place), repeat: Number(repeat) };
}

/**
 * Returns a file or folder name for a task or a candidate, without characters that are special to file systems or
 * shells.
 */
export function folderName(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 100);
}
