import type { Reading } from "../../../storage/store.js";
import { runs } from "../../runs/run.table.js";
import { listCopies } from "../copies/replay-copy.table.js";
import { costView, judgeView, pairView, recheckView, type Texts } from "../judging/judging.view.js";
import { type ReplayPairRow, replayPairs } from "../judging/replay-pair.table.js";
import { type ReplayRecheckRow, replayRechecks } from "../judging/replay-recheck.table.js";
import { type CopyKey, type ReplayVerdictRow, replayVerdicts } from "../judging/replay-verdict.table.js";
import type { ReplayCopyRow } from "../replay/replay.js";
import { getReplayInput, type ReplayInputRow } from "../replay/replay-input.table.js";
import type { CopyParts } from "./copy.view.js";

/**
 * Data about a replay's copies, besides the copies' own rows. The keys of the last four maps are the names of the
 * copies ({@link toName}).
 */
export interface ReplayRows {
  readonly judge: ReplayInputRow["config"]["station"]["judge"];
  /** Task titles, by task. */
  readonly titles: ReadonlyMap<string, string>;
  readonly first: ReadonlyMap<string, ReplayVerdictRow>;
  readonly second: ReadonlyMap<string, ReplayVerdictRow>;
  readonly pairs: ReadonlyMap<string, ReplayPairRow>;
  readonly rechecks: ReadonlyMap<string, ReplayRecheckRow>;
}

/** Returns the copies of a replay, by place and then repeat: at most 250. */
export function readCopies(reading: Reading, workspaceId: string, replayId: string): readonly ReplayCopyRow[] {
  return listCopies(reading, workspaceId, replayId);
}

/** Reads the rows about a replay's copies, at most 250 of each kind. `place` limits the rows to one run of the set. */
export function readReplayRows(
  reading: Reading,
  workspaceId: string,
  { replayId, place }: { readonly replayId: string; readonly place?: number },
): ReplayRows {
  const { config, entries } = getReplayInput(reading, workspaceId, replayId);
  const under = place === undefined ? [replayId] : [replayId, place];
  const verdicts = replayVerdicts.list(reading, workspaceId, under);
  return {
    judge: config.station.judge,
    titles: new Map(entries.map(({ taskId, title }) => [taskId, title])),
    first: byCopy(verdicts.filter(({ which }) => which === "first")),
    second: byCopy(verdicts.filter(({ which }) => which === "second")),
    pairs: byCopy(replayPairs.list(reading, workspaceId, under)),
    rechecks: byCopy(replayRechecks.list(reading, workspaceId, under)),
  };
}

/** Returns the data that the view of a copy shows. */
export function getParts(rows: ReplayRows, copy: ReplayCopyRow, texts: Texts = "brief"): CopyParts {
  const name = toName(copy);
  const [second, pair] = [rows.second.get(name), rows.pairs.get(name)];
  return {
    copy,
    title: rows.titles.get(copy.taskId) ?? "",
    check: checkView(copy, texts),
    judge: judgeView(rows.first.get(name), rows.judge, texts),
    secondJudge: second === undefined || second.verdict === null ? null : judgeView(second, rows.judge, texts),
    rejudgingSpent: costView(second),
    recheck: recheckView(rows.rechecks.get(name), texts),
    pair: pairView(pair, texts),
    pairingSpent: costView(pair),
  };
}

function checkView({ check, runId }: ReplayCopyRow, texts: Texts): CopyParts["check"] {
  if (check === null) return null;
  const { passed, exitCode, tail } = check;
  const run = texts === "brief" || runId === null ? undefined : runs.get(texts.reading, texts.workspaceId, runId);
  return { passed, exitCode, output: run?.check?.output ?? tail };
}

function byCopy<Row extends CopyKey>(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [toName(row), row]));
}

/** Returns a copy's name within its replay. */
export function toName({ place, repeat }: Pick<CopyKey, "place" | "repeat">): string {
  return `${place}/${repeat}`;
}
