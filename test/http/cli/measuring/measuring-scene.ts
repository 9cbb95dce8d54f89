import type { Test } from "tap";
import type { Job } from "../../../../actors/runners/job.js";
import type { CommandScene } from "../../../support/command-cases.js";
import { openReplayScene, type ReplayScene } from "../../../support/replay-scene.js";
import { openSignalbox } from "../../../support/signalbox.js";

/** A replay scene whose owner is signed in on the command line. */
export interface MeasuringScene extends CommandScene {
  readonly place: ReplayScene;
}

export async function openMeasuringScene(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
): Promise<MeasuringScene> {
  const place = await openReplayScene(t, { settings });
  const { service, ada: person, workspaceId, teamId } = place;
  const signalbox = openSignalbox(t);
  const { code, err } = await signalbox.run([
    "login",
    service.baseUrl,
    "--link",
    await service.linkFor("ada@example.com"),
  ]);
  if (code !== 0) throw new Error(err);
  return { place, service, signalbox, person, workspaceId, teamId };
}

/** The end of a copy: whether it succeeds, and its cost in USD. */
export interface CopyEnd {
  readonly succeeds: boolean;
  readonly amount: number;
}

/** Works on all jobs of replays as the scene's runner, until the test ends. */
export function workCopies({ place: { peer } }: MeasuringScene, toEnd: (job: Job) => CopyEnd): void {
  const next = async (): Promise<void> => {
    const job = await peer.job();
    const { succeeds, amount } = toEnd(job);
    peer.start(job);
    const ending = succeeds ? ({ kind: "finish", note: "" } as const) : ({ kind: "ask", question: "Which?" } as const);
    peer.end(job, { ending, spent: { amount, currency: "USD" } });
    return next();
  };
  next().catch(() => undefined);
}
