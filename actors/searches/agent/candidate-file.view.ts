import type { StationBody } from "../../lines/station.js";
import { excerptTexts, firstBytes } from "../../replays/figures/excerpt.js";
import { type AgentContext, readBlock, type ShownCandidate } from "./agent-context.js";
import { fitJson, type TextLimit } from "./fit.js";

/**
 * Maximum sizes in bytes: of a prompt; and of a rubric, or of all claims of a judge together. `fitJson` reduces these
 * sizes if the file is too large.
 */
const PROMPT_BYTES = 192 * 1024;
const RUBRIC_BYTES = 32 * 1024;

/**
 * Returns the content of the agent's file about a candidate or the live config: its results on searched runs, its
 * hypothesis and changes, and its station block.
 */
export function candidateFile(context: AgentContext, candidate: ShownCandidate): string {
  const { hypothesis, changes } = candidate;
  const block = readBlock(context, candidate);
  return fitJson((limit) => ({
    ...findScores(candidate),
    hypothesis,
    changes,
    ...shownBlock("station", block, limit),
  }));
}

/** Returns a candidate's results on searched runs. A score is null until the replay of these runs ends. */
export function findScores({ name, seed, iteration, replayEnded, searched }: ShownCandidate) {
  return {
    name,
    seed,
    iteration,
    replay: replayEnded,
    searchScore: searched?.searchScore ?? null,
    searchInterval: searched?.searchInterval ?? null,
    searchScored: searched?.searchScored ?? 0,
    searchedGain: searched?.searchedGain ?? null,
    searchedPairs: searched?.searchedPairs ?? null,
    costPerRun: searched?.costPerRun ?? null,
  };
}

/**
 * Returns an object with the block as the member `member`. A second member, `cut`, lists the block's shortened texts,
 * which the agent must not copy. `cut` is absent if the block is complete.
 */
export function shownBlock(member: string, block: StationBody, limit: TextLimit) {
  const prompt = firstBytes(block.prompt, limit(PROMPT_BYTES));
  const judge = block.judge === null ? null : shownJudge(block.judge, limit);
  const cut = [
    ...(prompt === block.prompt ? [] : [`${member}.prompt`]),
    ...(JSON.stringify(judge) === JSON.stringify(block.judge) ? [] : [`${member}.judge`]),
  ];
  return { [member]: { ...block, prompt, judge }, ...(cut.length === 0 ? {} : { cut }) };
}

function shownJudge(judge: NonNullable<StationBody["judge"]>, limit: TextLimit): NonNullable<StationBody["judge"]> {
  const { rubric, claims } = judge;
  const shown = claims.join("").length <= limit(RUBRIC_BYTES) ? claims : excerptTexts(claims, limit(RUBRIC_BYTES));
  return { ...judge, rubric: firstBytes(rubric, limit(RUBRIC_BYTES)), claims: [...shown] };
}
