import type { Schema } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { toJson, toLines } from "../command/printable.js";
import { applyDiff, findOwnRepository } from "./apply-diff.js";
import { nameRun } from "./current-task.js";
import { findRunWithChanges, type RunWithChanges } from "./run-changes.js";

export interface DiffOptions extends CommonOptions {
  readonly repository?: string;
  readonly apply?: true;
  readonly branch?: string;
}

/** Prints the changes of a run, or applies them to the checkout of this folder. */
export async function showDiff(context: Context, options: DiffOptions, name: string | undefined): Promise<void> {
  const { client, terminal, isJson } = context;
  const { branch = null } = options;
  const mayApply = options.apply === true || branch !== null;
  const run = await nameRun(context, name);
  const path = { runId: run.id };
  const toOther = async () => toHint(mayApply, await findRunWithChanges(context, run));
  if (run.state !== "ended") {
    const other = await toOther();
    throw new CommandError(`the run ${run.id} has not ended: its changes are not known yet${other}`);
  }
  const repository = options.repository ?? (mayApply ? chooseRepository(terminal.folder, run) : undefined);
  const query = repository === undefined ? {} : { repository };
  const diff = await client.get("/api/runs/{runId}/diff", { path, query });
  const runId = run.id;
  if (mayApply && diff !== "") {
    const applied = applyDiff({ folder: terminal.folder, diff, branch });
    const where = applied.branch === null ? "" : ` on the new branch ${applied.branch}`;
    return context.show({ runId, repository: repository ?? null, ...applied }, () => [
      `applied the changes of ${runId}${where}: ${applied.files.map((file) => toJson(file)).join(", ")}`,
      "the changes are staged: git diff --staged shows them",
    ]);
  }
  if (diff === "") {
    const where = repository === undefined ? "" : ` in ${repository}`;
    terminal.note(`the run ${runId} (${run.station}) changed nothing${where}${await toOther()}`);
  }
  if (isJson) context.show({ runId, repository: repository ?? null, diff }, () => []);
  else if (!terminal.isTerminal) terminal.write(diff);
  else if (diff !== "") terminal.print(toColoured(context, diff).replace(/\n$/, ""));
}

/** Returns a line that names a run with changes; empty if there is no such run. */
function toHint(mayApply: boolean, other: RunWithChanges | null): string {
  if (other === null) return "";
  const { run, isLater } = other;
  const which = `${isLater ? "a later" : "an earlier"} run, ${run.id} (${run.station}), has changes`;
  return `\n${which}: signalbox run diff ${run.id}${mayApply ? " --apply" : ""}`;
}

/**
 * Returns the repository of the run that this checkout belongs to; undefined if the run has no repository. Throws a
 * {@link CommandError} if the run has several repositories and the checkout does not clearly belong to one of them.
 */
function chooseRepository(folder: string, { checkouts }: Schema<"Run">): string | undefined {
  const names = checkouts.map(({ repository }) => repository);
  if (names.length <= 1) return names[0];
  const own = findOwnRepository(folder, names);
  if (own !== null) return own;
  throw new CommandError(
    `the run changes ${names.length} repositories: name one with --repository (${names.join(", ")})`,
  );
}

/** Removes control characters and colours the lines, for a terminal. */
function toColoured({ terminal }: Context, diff: string): string {
  const paint = (line: string): string => {
    if (/^(diff |index |--- |\+\+\+ )/.test(line)) return terminal.paint("bold", line);
    if (line.startsWith("@@")) return terminal.paint("blue", line);
    if (line.startsWith("+")) return terminal.paint("green", line);
    return line.startsWith("-") ? terminal.paint("red", line) : line;
  };
  return toLines(diff).split("\n").map(paint).join("\n");
}
