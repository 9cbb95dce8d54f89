import { toPlace } from "./edit-source.js";
import { isFields } from "./json-code.js";
import { globbed } from "./path-parts.js";
import { mayBe, toPattern } from "./path-pattern.js";
import type { Repository } from "./repository.js";
import { readDocuments } from "./run-files.js";
import { applyingFiles } from "./run-settings.js";
import { fluxRefs, type RunRef } from "./yaml-runs.js";

/**
 * Checks whether CI workflows or Flux run the root module in a folder, but no run may use the branch that the edit is
 * merged into. If so, returns the branches and the place of the first run, as text for a message. Otherwise returns
 * null.
 */
export async function otherRunBranch(
  repository: Repository,
  folder: string,
  branch: string | undefined,
): Promise<string | null> {
  const workflows = (await applyingFiles(repository, folder)).map((file): RunRef => {
    const refs = /^\.(github|gitea|forgejo)\/workflows\//.test(file.path) ? pushedBranches(file.text) : null;
    const start = Math.max(0, file.text.search(/\bbranches\s*:/));
    return { refs, place: toPlace(file, { start }) };
  });
  const runs = [...workflows, ...(await fluxRefs(repository, folder))];
  const isOther = ({ refs }: RunRef): boolean =>
    refs?.every((ref) =>
      (branch === undefined ? ["main", "master"] : [branch]).every((each) => !mayMatch(ref, each)),
    ) ?? false;
  const [first] = runs;
  return first !== undefined && runs.every(isOther) ? `${first.refs?.join(", ")}, at ${first.place}` : null;
}

/** Whether a pattern of a workflow, such as `release/**`, may match a branch. */
function mayMatch(pattern: string, branch: string): boolean {
  const parts = ["/", ...globbed(pattern)].map((part) => (typeof part === "string" ? part : null));
  return pattern.startsWith("!") || mayBe(toPattern(".", parts), branch);
}

/**
 * Returns the branches whose pushes start a GitHub workflow. Returns null if other events may start the workflow, or if
 * the branches are unknown.
 */
function pushedBranches(text: string): readonly string[] | null {
  const value: unknown = readDocuments(text)?.[0]?.value;
  const on = isFields(value) ? value.on : undefined;
  // Ignore pull request events: their runs only plan the change, before the merge.
  if (!isFields(on) || Object.keys(on).some((event) => !/^(push|pull_request(_target)?)$/.test(event))) return null;
  const list = isFields(on.push) && on.push.tags === undefined ? on.push.branches : undefined;
  const branches: readonly unknown[] = Array.isArray(list) ? list : [list];
  const texts = branches.filter((each) => typeof each === "string");
  return texts.length === branches.length ? texts : null;
}
