import { z } from "zod";

/**
 * A file that an agent is shown, by what it is about: its name in addresses is made of that, so that one file is made
 * without the others.
 */
export type FileName =
  | { readonly kind: "brief" }
  | { readonly kind: "candidate"; readonly candidateId: string }
  | { readonly kind: "task"; readonly taskId: string }
  | CopyFileName;

/** What a copy of a searched run did, or what it changed. */
export interface CopyFileName {
  readonly kind: "result" | "diff";
  readonly candidateId: string;
  /** The place of its run in the set, and which copy of that run. */
  readonly place: number;
  readonly repeat: number;
}

const id = "[A-Za-z0-9_-]{1,100}";
const FORMS = new RegExp(`^(?:(brief)|(candidate|task)\\.(${id})|(result|diff)\\.(${id})\\.(\\d{1,4})\\.(\\d{1,2}))$`);
const copyKind = z.enum(["result", "diff"]);

/** The name in an address, of characters that need no escaping. */
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

/** Null for what is no name of a file. */
export function parseFileName(text: string): FileName | null {
  const [, brief, about, aboutId = "", of, candidateId = "", place, repeat] = FORMS.exec(text) ?? [];
  if (brief !== undefined) return { kind: "brief" };
  if (about === "candidate") return { kind: "candidate", candidateId: aboutId };
  if (about === "task") return { kind: "task", taskId: aboutId };
  const kind = copyKind.safeParse(of).data;
  return kind === undefined ? null : { kind, candidateId, place: Number(place), repeat: Number(repeat) };
}

/** The folder of a task, or the file of a candidate: no character of it means something to a file system or shell. */
export function folderName(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 100);
}
