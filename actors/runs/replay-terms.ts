import type { RunConfig } from "../lines/fingerprint.js";
import type { JobReplay } from "../runners/job.js";
import type { RunAnswer } from "./run-answer.js";

/**
 * The work of a replay run, and which of its programs get the secrets of the profile. Stored as `replay` in the
 * beginning of the run's input.
 */
export interface ReplayTerms {
  /** `repeat` starts the agent. `check` only runs the setups and the check on the run's starting point. */
  readonly does: JobReplay["does"];
  readonly secretsFor: {
    readonly check: boolean;
    /** The repositories whose setup gets the secrets, in the order of the config. */
    readonly setup: readonly string[];
  };
  /** The answer added at the end of the agent's prompt; absent for none. */
  readonly answer?: RunAnswer;
}

/** The parts of a config that define the commands that a runner starts besides the agent. */
export type CommandConfig = Pick<RunConfig, "repositories"> & { readonly station: Pick<RunConfig["station"], "check"> };

/**
 * Returns the replay terms of a run under `config`. The agent always gets the secrets. The check and each setup get
 * secrets only if their command is the same as in `live`. The reason is that anyone who may plan can write the commands
 * of another config.
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

/** Whether any program of the run gets secrets. */
export function needsSecrets({ does, secretsFor: { check, setup } }: ReplayTerms): boolean {
  return does === "repeat" || check || setup.length > 0;
}

/** Converts the terms to the form that a runner receives. */
export function toJobReplay({ does, secretsFor: { check, setup } }: ReplayTerms): JobReplay {
  return { does, secretsFor: { check, setup: [...setup] } };
}
