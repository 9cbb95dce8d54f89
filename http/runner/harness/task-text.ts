import type { Job } from "../../../actors/runners/job.js";
import { type Checkout, toContext } from "../checkout/checkout.js";
import type { ContextTexts } from "../checkout/run-folder.js";

/** The texts for an agent. `prompt` is the station's prompt; in a search's run, the search's prompt comes before it. */
export function toTexts(job: Job, prompt: string, checkouts: readonly Checkout[]): ContextTexts {
  return { prompt, task: toTaskText(job, prompt), context: toContext(job, checkouts) };
}

/**
 * Returns the prompt and, if the run has a task, the task with the names of its files and with its notes, oldest first.
 * The text is Markdown that ends with a newline.
 */
function toTaskText({ task }: Pick<Job, "task">, prompt: string): string {
  const parts = [prompt];
  if (task !== undefined) {
    const { title, url, description, review, attachments = [], notes } = task;
    parts.push(`# Task: ${title.replace(/\s+/g, " ")}`, url, description);
    if (review !== undefined) parts.push(`Review ${review.url ?? review.ref}, and change nothing.`);
    if (attachments.length > 0) {
      const names = attachments.map(({ name }) => `- ${name}`);
      parts.push(["Files of the task, in the folder that SIGNALBOX_ATTACHMENTS names:", ...names].join("\n"));
    }
    if (notes.length > 0) parts.push("## Notes");
    for (const { at, from, text } of notes) parts.push(`### ${at}, ${from}`, text);
  }
  const texts = parts.map((part) => part.trim()).filter((part) => part !== "");
  return `${texts.join("\n\n")}\n`;
}
