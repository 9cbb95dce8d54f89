import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { readBlocks } from "../../../support/page-blocks.js";

/** Reads the parts of the example workflow for GitHub Actions that tests need. */

const step = z.strictObject({
  name: z.string().optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  run: z.string().optional(),
});

const workflow = z.strictObject({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions: z.record(z.string(), z.string()),
  concurrency: z.unknown(),
  jobs: z.strictObject({
    "replay-check": z.strictObject({
      if: z.string(),
      "runs-on": z.string(),
      "timeout-minutes": z.number(),
      permissions: z.record(z.string(), z.string()),
      env: z.record(z.string(), z.string()),
      steps: z.array(step),
    }),
  }),
});

const PAGE = "docs/checks.md";

/** Returns the text of a file that the page `docs/checks.md` shows. */
export function readPageFile(name: string): string {
  const block = readBlocks(readFileSync(PAGE, "utf8"), PAGE).find(({ title }) => title === name);
  if (block === undefined) throw new Error(`${PAGE} has no file ${name}`);
  return `${block.code}\n`;
}

/** The page's workflow, with the line and the file of the tests, as the page asks its readers to replace them. */
export const workflowText = readPageFile(".github/workflows/replay-check.yml")
  .replaceAll("core/main", "core/dev")
  .replaceAll("signalbox/main.json", "signalbox/dev.json");
export const workflowFile = workflow.parse(parse(workflowText));
export const job = workflowFile.jobs["replay-check"];

/**
 * Returns the value of an expression such as `github.event.number` in GitHub's contexts. Returns undefined if there is
 * no value.
 */
export function lookUp(expression: string, contexts: unknown): unknown {
  return expression
    .trim()
    .split(".")
    .reduce<unknown>(
      (value, name) =>
        typeof value === "object" && value !== null
          ? Object.entries(value).find(([each]) => each === name)?.[1]
          : undefined,
      contexts,
    );
}

/** Whether the job runs for an event. Throws if the job's condition is more than a single comparison. */
export function admits(contexts: unknown): boolean {
  const [left = "", right = "", ...more] = job.if.split("==");
  if (more.length > 0 || /[&|!()]/.test(job.if))
    throw new Error(`the condition is no longer one comparison: ${job.if}`);
  return lookUp(left, contexts) === lookUp(right, contexts);
}

/** Returns the job's environment, with its expressions evaluated. */
export function toEnvironment(contexts: unknown): Record<string, string> {
  const value = (text: string) =>
    text.replace(/\$\{\{([^}]*)\}\}/g, (_, each: string) => String(lookUp(each, contexts) ?? ""));
  return Object.fromEntries(Object.entries(job.env).map(([name, text]) => [name, value(text)]));
}
