import type { RunConfig } from "../lines/fingerprint.js";
import type { JobReplay } from "../runners/job.js";
import type { RunAnswer } from "./run-answer.js";

/** What a run of a replay does, and who gets the secrets of its profile. Stored in the run's beginning. */
export interface ReplayTerms {
  /** `repeat` starts the agent; `check` only checks what the run begins from. */
  readonly does: JobReplay["does"];
  readonly secretsFor: {
    readonly check: boolean;
    /** The repositories whose setup gets them, in the order of the config. */
    readonly setup: readonly string[];
  };
  /** What the agent is told at the end of its prompt; absent for nothing. */
  readonly answer?: RunAnswer;
}

/** The parts of a config that say which commands a runner runs beside the agent. */
export type CommandConfig = Pick<RunConfig, "repositories"> & { readonly station: Pick<RunConfig["station"], "check"> };

/**
 * The terms of a run under `config`. The check and a setup get secrets only when they are equal, byte by byte, to the
 * `live` ones: whoever may plan writes those of a candidate. The agent gets them in any case.
 */
export function toReplayTerms(does: ReplayTerms["does"], config: CommandConfig, live: CommandConfig): ReplayTerms {
  const liveSetups = new Map(live.repositories.map(({ name, setup }) => [name, setup]));
  const same = config.repositories.filter(({ name, setup }) => setup !== null && liveSetups.get(name) === setup);
  const { check } = config.station;
  return {
    does,
    secretsFor: { check: check !== null && check === live.station.check, setup: same.map(({ name }) => name) },
  };
}

/** Whether anything that the run starts gets secrets. */
export function needsSecrets({ does, secretsFor: { check, setup } }: ReplayTerms): boolean {
  return does === "repeat" || check || setup.length > 0;
}

/** The terms as a runner gets them. */
export function toJobReplay({ does, secretsFor: { check, setup } }: ReplayTerms): JobReplay {
  return { does, secretsFor: { check, setup: [...setup] } };
}
