/** Maximum length of a note's file name without `.md`, in characters. */
const MAX_NAME = 60;

/** The content of a note of the example agent. */
export interface NoteParts {
  readonly title: string;
  readonly description: string;
  /** The station's prompt. */
  readonly prompt: string;
  /** The person's answers to the agent's questions, and the person's other notes. */
  readonly answers: readonly string[];
  /** The number of files in the repository. */
  readonly files: number;
  /** Files that contain words of the title. */
  readonly found: readonly string[];
}

/** Returns the path of the note about a task: `signalbox-notes/<title>.md`. */
export function toNotePath(title: string): string {
  const name = title
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}+/gu, "")
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, MAX_NAME)
    .replace(/^-+|-+$/g, "");
  return `signalbox-notes/${name === "" ? "task" : name}.md`;
}

/** Returns the text of a note, as Markdown. */
export function toNote({ title, description, prompt, answers, files, found }: NoteParts): string {
  const parts = [
    `# ${title.replace(/\s+/g, " ").trim()}`,
    "Written by the built-in example agent of `signalbox dev`, which calls no model. Start `signalbox dev` with\n" +
      "`--command` to use your own agent.",
    description.trim(),
    answers.length === 0 ? "" : `## Answer\n\n${answers.map((answer) => toQuote(answer)).join("\n\n")}`,
    prompt === "" ? "" : `## Instructions\n\n${toQuote(prompt)}`,
    `## Repository\n\nIt has ${files} ${files === 1 ? "file" : "files"}. ${toFound(found)}`,
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function toFound(found: readonly string[]): string {
  if (found.length === 0) return "None contains a word of the task's title.";
  return `These contain words of the task's title:\n\n${found.map((path) => `- \`${path}\``).join("\n")}`;
}

function toQuote(text: string): string {
  return text
    .trim()
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}
