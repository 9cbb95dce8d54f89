#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/**
 * This program is a proposer that needs no model. The demo and tests use it as their search agent. Its arguments are
 * prompts. For each prompt, it proposes the live config with that prompt, up to the number of candidates left. Each
 * candidate is named after the first words of its prompt. For each failed task, the proposer reports that another
 * prompt could have helped. It uses the line protocol of the command harness.
 */

interface Brief {
  readonly kind: "propose" | "reflect";
  readonly left: { readonly candidates: number };
  readonly candidates: readonly { readonly name: string }[];
  readonly tasks?: readonly { readonly taskId: string; readonly folder: string }[];
}

const send = (line: Record<string, unknown>): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Sends a line to the service; resolves with the answer's status. */
async function say(line: { readonly type: "candidates" | "cause" } & Record<string, unknown>): Promise<number> {
  send(line);
  for (;;) {
    const { value, done } = await answers.next();
    if (done === true) throw new Error("no answer came");
    const answer = JSON.parse(value) as { readonly type: string; readonly status: number };
    if (answer.type === `${line.type}.answered`) return answer.status;
  }
}

/** Returns the first words of a prompt, as a slug. */
function toName(prompt: string): string {
  const words = prompt.toLowerCase().match(/[a-z0-9]+/g) ?? ["unnamed"];
  return words.slice(0, 4).join("-").slice(0, 64);
}

async function propose({ left, candidates }: Brief, prompts: readonly string[]): Promise<void> {
  const known = new Set(candidates.map(({ name }) => name));
  const fresh = prompts.map((prompt) => ({ name: toName(prompt), prompt })).filter(({ name }) => !known.has(name));
  const list = fresh.slice(0, left.candidates).map(({ name, prompt }) => ({
    name,
    hypothesis: `Agents heed what their prompt says: ${prompt}`,
    station: { from: "live", prompt },
  }));
  if (list.length === 0) return;
  const status = await say({ type: "candidates", candidates: list });
  if (status !== 201) throw new Error(`what was proposed was refused with ${status}`);
}

async function reflect({ tasks = [] }: Brief, folder: string): Promise<void> {
  for (const { taskId, folder: at } of tasks) {
    const { title } = JSON.parse(readFileSync(join(folder, at, "task.json"), "utf8")) as { readonly title: string };
    const evidence = `The agent failed at "${title}", and its prompt does not say how to do it.`;
    const suggestion = "Say in the prompt what the check and the judge look at.";
    const status = await say({ type: "cause", taskId, cause: "config", evidence, suggestion });
    if (status !== 201) throw new Error(`a cause was refused with ${status}`);
  }
}

/** Runs as the agent of a search run. */
async function workForSearch(folder: string, prompts: readonly string[]): Promise<void> {
  const brief = JSON.parse(readFileSync(join(folder, "brief.json"), "utf8")) as Brief;
  send({ type: "cost", amount: 0.01, currency: "USD" });
  await (brief.kind === "propose" ? propose(brief, prompts) : reflect(brief, folder));
}

await workForSearch(process.env.SIGNALBOX_SEARCH ?? "", process.argv.slice(2));
process.exit(0);
