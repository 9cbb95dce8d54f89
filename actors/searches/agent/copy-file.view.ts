import { boundMoney } from "../../money.js";
import { excerptReasons, excerptTexts, firstBytes, lastBytes } from "../../replays/figures/excerpt.js";
import { getParts, readReplayRows } from "../../replays/reads/replay-parts.js";
import { runCheckouts, runs } from "../../runs/run.table.js";
import { listSteps } from "../../runs/run-steps.js";
import { getText } from "../../tables/text-blobs.js";
import type { AgentContext, SeenCopy } from "./agent-context.js";
import { MAX_FILE_BYTES, MAX_STEPS } from "./bounds.js";
import { folderName } from "./file-name.js";
import { fitJson, type TextLimit } from "./fit.js";

/**
 * Maximum sizes of texts in a result, in bytes: a check's output, all reasons, all claims, one step, and the reason for
 * the result. `fitJson` reduces these sizes if the file is too large.
 */
const OUTPUT_BYTES = 32 * 1024;
const REASONS_BYTES = 32 * 1024;
const CLAIMS_BYTES = 32 * 1024;
const STEP_BYTES = 2 * 1024;
const WHY_BYTES = 2 * 1024;

/** Writes the file about one copy of a searched run: the result, check, judge and last steps of the copy. */
export function resultFile(context: AgentContext, seen: SeenCopy): string {
  const { reading, workspaceId } = context;
  const { candidate, copy } = seen;
  const { replayId, place, taskId, repeat, runId, result, why, outcome, priced, steps, ms, toolMisses } = copy;
  const rows = readReplayRows(reading, workspaceId, { replayId, place });
  const { check, judge } = getParts(rows, copy, { reading, workspaceId });
  const last = lastSteps(context, runId);
  return fitJson((limit) => ({
    task: folderName(taskId),
    candidate: candidate.name,
    copy: repeat,
    result,
    why: why === null ? null : { code: why.code, text: firstBytes(why.text, limit(WHY_BYTES)) },
    outcome,
    check: check === null ? null : { ...check, output: lastBytes(check.output, limit(OUTPUT_BYTES)) },
    judge: judge.scale === null ? null : findJudge(judge, limit),
    spent: boundMoney(copy.spent),
    priced,
    ms,
    toolMisses,
    steps: steps ?? last.length,
    lastSteps: last.map(({ index, kind, tool, text }) => ({
      index,
      kind,
      tool,
      text: firstBytes(text, limit(STEP_BYTES)),
    })),
    cut: `Of steps the last ${MAX_STEPS} are here; long texts are cut.`,
  }));
}

function findJudge(judge: ReturnType<typeof getParts>["judge"], limit: TextLimit) {
  const { scale, passed, score, marks, passShare, claims, reasons } = judge;
  return {
    scale,
    passed,
    score,
    marks,
    passShare,
    claims: claims.length === 0 ? [] : excerptTexts(claims, limit(CLAIMS_BYTES)),
    reasons: excerptReasons(reasons, limit(REASONS_BYTES)).map(({ text, claim }) => ({ text, claim })),
  };
}

function lastSteps({ reading, workspaceId }: AgentContext, runId: string | null) {
  const run = runId === null ? undefined : runs.get(reading, workspaceId, runId);
  if (run === undefined) return [];
  const after = run.steps - MAX_STEPS - 1;
  return listSteps(reading, workspaceId, run.id, {
    limit: MAX_STEPS,
    ...(after < 0 ? {} : { after: [run.id, after] }),
  });
}

/**
 * Returns the change that the copy's agent made; empty for no change. A long change is cut, with a note that says so.
 */
export function diffFile({ reading, workspaceId }: AgentContext, { copy: { runId } }: SeenCopy): string {
  if (runId === null) return "";
  const parts = runCheckouts.list(reading, workspaceId, [runId]).map(({ repository, digest, own = digest }) => {
    const diff = getText(reading, workspaceId, own);
    return diff === "" ? "" : `# in ${repository}\n${diff.endsWith("\n") ? diff : `${diff}\n`}`;
  });
  const whole = parts.join("");
  const bytes = Buffer.byteLength(whole);
  if (bytes <= MAX_FILE_BYTES) return whole;
  const note = `\n# cut: the whole change has ${bytes} bytes\n`;
  return `${firstBytes(whole, MAX_FILE_BYTES - Buffer.byteLength(note))}${note}`;
}
