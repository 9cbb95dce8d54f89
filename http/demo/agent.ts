#!/usr/bin/env node
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { ToolClient } from "./tool-client.js";

/**
 * This program is the demo's agent. It maintains a folder of notes in the repository and really edits files. Some tasks
 * instruct the agent to make a mistake first. The agent uses the line protocol of the command harness.
 */

interface Context {
  readonly task: {
    readonly title: string;
    readonly description: string;
    readonly notes: readonly { readonly from: string; readonly text: string }[];
  };
  readonly station: { readonly key: string };
}

const send = (line: Record<string, unknown>): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const step = (text: string, tool: string | null = null): void =>
  send({ type: "step", kind: tool === null ? "message" : "tool", text, tool });

const context = JSON.parse(readFileSync(process.env.SIGNALBOX_CONTEXT_FILE ?? "", "utf8")) as Context;
const prompt = readFileSync(process.env.SIGNALBOX_PROMPT_FILE ?? "", "utf8");
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { task } = context;
const slug = task.title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
const file = `notes/${slug}.md`;
const index = "notes/INDEX.md";
const sentBack = task.notes.filter((note) => note.from === "station review");

/** An issue as the tracker's tool returns it. */
interface TrackerIssue {
  readonly identifier: string;
  readonly title: string;
  readonly team: { readonly states: { readonly nodes: readonly { id: string; name: string; type: string }[] } };
}

interface AgentInput {
  readonly type: string;
  readonly reason?: string;
  readonly text?: string;
}

/**
 * Requests a handover to the station `to`. Returns null if the handover is accepted, or the reason if it is refused.
 * Reports a message that arrives meanwhile as a step.
 */
async function handOver(to: string, note: string): Promise<string | null> {
  send({ type: "handover", to, note });
  for (;;) {
    const { value } = await answers.next();
    const input = JSON.parse(value ?? '{"type":"handover.refused"}') as AgentInput;
    if (input.type === "handover.accepted") return null;
    if (input.type === "handover.refused") return input.reason ?? "no answer";
    if (input.type === "message") step(`was told: ${input.text}`);
  }
}

function write(title: string): void {
  mkdirSync("notes", { recursive: true });
  writeFileSync(file, `${title}\n\n${task.description}\n`);
  step(`wrote ${file}`, "edit");
}

function list(): void {
  const listed = existsSync(index) ? readFileSync(index, "utf8") : "";
  if (!listed.includes(slug)) appendFileSync(index, `- [${task.title}](${slug}.md)\n`);
  step(`listed it in ${index}`, "edit");
}

async function work(): Promise<void> {
  step(sentBack.length > 0 ? `reading what review said: ${sentBack.at(-1)?.text}` : `working on "${task.title}"`);
  const isFirst = sentBack.length === 0;
  write(task.description.includes("(untitled at first)") && isFirst ? task.title : `# ${task.title}`);
  const forgets = task.description.includes("(unlisted at first)") && isFirst && !prompt.includes(index);
  if (!forgets) list();
  send({ type: "cost", amount: 0.02, currency: "USD" });
  const lazy = task.description.includes("(says little at first)");
  const refused = await handOver("review", lazy ? "done" : `Wrote ${file}.`);
  if (refused === null) return;
  step(`not yet: ${refused.split("\n")[0]}`);
  write(`# ${task.title}`);
  const again = await handOver("review", `Wrote ${file}, with a title.`);
  if (again !== null) throw new Error(again);
}

async function review(): Promise<void> {
  const listed = existsSync(index) && readFileSync(index, "utf8").includes(slug);
  step(`${file} is ${listed ? "listed" : "not listed"} in ${index}`, "read");
  send({ type: "cost", amount: 0.01, currency: "USD" });
  if (!listed) {
    const refused = await handOver("work", `${file} is missing from ${index}.`);
    if (refused !== null) throw new Error(refused);
  }
}

/**
 * Works on a tracker issue: reads it, writes the note, comments on the issue, and moves it after a person's approval.
 */
async function mend(): Promise<void> {
  const tracker = await ToolClient.open("tracker");
  const call = async (tool: string, inputs: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const { text, isError } = await tracker.call(tool, inputs);
    if (isError) throw new Error(`${tool}: ${text}`);
    return JSON.parse(text);
  };
  const issue = (await call("read_issue", {})) as TrackerIssue;
  step(`read ${issue.identifier}: ${issue.title}`, "tracker.read_issue");
  write(`# ${issue.title}`);
  list();
  send({ type: "cost", amount: 0.02, currency: "USD" });
  await call("comment", { body: `Wrote ${file}.` });
  step(`commented on ${issue.identifier}`, "tracker.comment");
  const done = issue.team.states.nodes.find(({ type }) => type === "completed");
  step(`asks to move ${issue.identifier} to ${done?.name}`);
  await call("set_state", { state: done?.id });
  step(`moved ${issue.identifier} to ${done?.name}`, "tracker.set_state");
  tracker.close();
}

const stations: Readonly<Record<string, () => Promise<void>>> = { work, review, mend };
await stations[context.station.key]?.();
process.exit(0);
