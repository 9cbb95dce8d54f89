#!/usr/bin/env node
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { toNote, toNotePath } from "./example-note.js";

/**
 * The agent of `signalbox dev` without `--command`. It shows how tasks move, and calls no model. In a work station it
 * adds one note about the task to the repository; in a review it checks that the note exists. It asks a question if the
 * task's title ends with a question mark, or if the task says "ask me". It uses the line protocol of the command
 * harness.
 */

interface Context {
  readonly task?: {
    readonly title: string;
    readonly description: string;
    readonly notes: readonly { readonly from: string; readonly text: string }[];
  };
  readonly station: { readonly kind: string };
}

/** Maximum number of files that the note names. */
const MAX_FILES = 10;
/** Minimum length of a word to search for, in characters. */
const SHORT = 4;

const send = (line: Record<string, unknown>): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const say = (text: string): void => send({ type: "step", kind: "message", text });
const report = (tool: string, text: string): void => send({ type: "step", kind: "tool", tool, text });

const { task, station }: Context = JSON.parse(readFileSync(process.env.SIGNALBOX_CONTEXT_FILE ?? "", "utf8"));
const prompt = readFileSync(process.env.SIGNALBOX_PROMPT_FILE ?? "", "utf8").trim();

function main(): void {
  send({ type: "cost", amount: 0, currency: "USD" });
  if (task === undefined) return say("The built-in example agent works on tasks only.");
  const path = toNotePath(task.title);
  if (station.kind === "review") return review(path);
  const answers = task.notes.filter(({ from }) => from.startsWith("person")).map(({ text }) => text);
  say(`This is the built-in example agent. It calls no model, and only adds ${path}.`);
  const wants = task.title.trim().endsWith("?") || /\bask me\b/i.test(`${task.title}\n${task.description}`);
  if (wants && answers.length === 0) {
    return send({ type: "ask", question: `What is the answer to "${task.title.trim()}"? The note will hold it.` });
  }
  const files = listFiles();
  report("list", `The repository has ${files.length} ${files.length === 1 ? "file" : "files"}.`);
  const found = findWords(task.title);
  report("search", `${found.length} of them contain words of the task's title.`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, toNote({ ...task, prompt, answers, files: files.length, found: found.slice(0, MAX_FILES) }));
  report("edit", `Wrote ${path}.`);
}

function review(path: string): void {
  if (!existsSync(path)) throw new Error(`${path} is missing`);
  report("read", `Read ${path}: ${readFileSync(path, "utf8").split("\n").length} lines.`);
  say("The note is there. The built-in example agent approves it.");
}

function listFiles(): readonly string[] {
  return runGit("ls-files", "-z");
}

/** Lists the files that contain a word of the text with at least {@link SHORT} characters. */
function findWords(text: string): readonly string[] {
  const words = text.match(/[\p{L}\p{N}]+/gu)?.filter((word) => word.length >= SHORT) ?? [];
  if (words.length === 0) return [];
  return runGit("grep", "-z", "-l", "-I", "-i", "-F", ...words.flatMap((word) => ["-e", word]));
}

/** Returns git's output, split at zero bytes; empty if git finds nothing or fails. */
function runGit(...args: readonly string[]): readonly string[] {
  try {
    const out = execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return out.split("\0").filter((name) => name !== "");
  } catch {
    return [];
  }
}

main();
