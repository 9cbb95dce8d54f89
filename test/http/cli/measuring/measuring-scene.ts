import type { Test } from "tap";
import type { Job } from "../../../../actors/runners/job.js";
import type { CommandScene } from "../../../support/command-cases.js";
import { openReplayScene, type ReplayScene } from "../../../support/replay-scene.js";
import { type ProposedPrompts, proposePrompts } from "../../../support/search-peer.js";
import { openSignalbox } from "../../../support/signalbox.js";

/** A replay scene whose owner is signed in on the command line. */
export interface MeasuringScene extends CommandScene {
  readonly place: ReplayScene;
}

export async function openMeasuringScene(t: Test): Promise<MeasuringScene> {
  const place = await openReplayScene(t);
  return { ...(await signInOnCommandLine(t, place)), place };
}

/** Signs the owner of a scene in on the command line. */
export async function signInOnCommandLine(
  t: Test,
  { service, ada: person, workspaceId, teamId }: ReplayScene,
): Promise<CommandScene> {
  const signalbox = openSignalbox(t);
  const link = await service.linkFor("ada@example.com");
  const { code, err } = await signalbox.run(["login", service.baseUrl, "--link", link]);
  if (code !== 0) throw new Error(err);
  return { service, signalbox, person, workspaceId, teamId };
}

/** The end of a copy: whether it succeeds, and its cost in USD. */
export interface CopyEnd {
  readonly succeeds: boolean;
  readonly amount: number;
}

/**
 * Works on all jobs of replays and searches as the scene's runner, until the test ends. The agent of a search proposes
 * `prompts`.
 */
export function workCopies(
  { place }: MeasuringScene,
  toEnd: (job: Job) => CopyEnd,
  prompts: ProposedPrompts = {},
): void {
  const { peer } = place;
  const next = async (): Promise<void> => {
    const job = await peer.job();
    peer.start(job);
    if (job.search !== undefined) await proposePrompts(place, job, prompts);
    const { succeeds, amount } = job.search === undefined ? toEnd(job) : { succeeds: true, amount: 0.5 };
    const ending = succeeds ? ({ kind: "finish", note: "" } as const) : ({ kind: "ask", question: "Which?" } as const);
    peer.end(job, { ending, spent: { amount, currency: "USD" } });
    return next();
  };
  next().catch(() => undefined);
}
