import type { FailureCode } from "../../runners/protocol.js";
import type { RunRow } from "../../runs/run.js";
import type { ReplayCopyRow } from "../replay/replay.js";
import type { ReplayInputRow } from "../replay/replay-input.table.js";

/** The result of a copy that has stopped running. `result` is null while a judge must still decide the result. */
export type CopyResult = Pick<ReplayCopyRow, "result" | "why">;

/** Maximum number of attempts for a copy whose runners are lost. */
export const MAX_ATTEMPTS = 3;

/**
 * What a failure says about the config. `failed`: the copy failed. `unscored`: the failure says nothing about the
 * config. `of-its-setup`: the copy failed if the config changes a repository's setup or image; otherwise the failure
 * says nothing.
 */
const failures: Readonly<Record<FailureCode, "failed" | "unscored" | "of-its-setup">> = {
  "harness-failed": "failed",
  "timed-out": "failed",
  "check-failed": "failed",
  "diff-too-large": "failed",
  "checkout-failed": "unscored",
  "harness-not-found": "unscored",
  "secret-missing": "unscored",
  "not-supported": "unscored",
  "runner-error": "unscored",
  "no-image": "of-its-setup",
  "setup-failed": "of-its-setup",
};

type EndedRun = Pick<RunRow, "outcome" | "reason" | "ending" | "failure" | "check">;

/** Derives a copy's result from its last attempt's run and the replay's configs. */
export function toCopyResult(run: EndedRun, input: Pick<ReplayInputRow, "config" | "live">): CopyResult {
  const { outcome, failure, reason } = run;
  switch (outcome) {
    case "completed":
      return ofCompleted(run, input);
    case "failed":
      return ofFailure(failure, reason, input);
    case "abandoned":
      return unscored("runner-lost", reason ?? "The runner was lost.");
    default:
      return unscored(outcome ?? "runner-error", reason ?? "The run was ended.");
  }
}

function ofCompleted({ ending, check }: EndedRun, { config }: Pick<ReplayInputRow, "config">): CopyResult {
  if (ending?.kind === "ask") return failed("asked", "It asked a person.");
  const { check: command, judge } = config.station;
  if (command !== null && check === null) return unscored("runner-error", "The check has no result.");
  if (check !== null && !check.passed) return failed("check-failed", "The check failed.");
  return judge === null ? { result: "succeeded", why: null } : { result: null, why: null };
}

function ofFailure(
  failure: EndedRun["failure"],
  reason: string | null,
  input: Pick<ReplayInputRow, "config" | "live">,
): CopyResult {
  const code = failure?.code ?? "runner-error";
  const text = failure?.message ?? reason ?? "The run failed.";
  const says = failures[code];
  const isFailed = says === "failed" || (says === "of-its-setup" && changesSetup(input));
  return isFailed ? failed(code, text) : unscored(code, text);
}

/** Whether the config has a repository that the live config lacks, or a repository with a different setup or image. */
function changesSetup({ config, live }: Pick<ReplayInputRow, "config" | "live">): boolean {
  return config.repositories.some(({ name, setup, image }) => {
    const now = live.repositories.find((repository) => repository.name === name);
    return now === undefined || now.setup !== setup || now.image !== image;
  });
}

function failed(code: string, text: string): CopyResult {
  return { result: "failed", why: { code, text } };
}

function unscored(code: string, text: string): CopyResult {
  return { result: "unscored", why: { code, text } };
}
