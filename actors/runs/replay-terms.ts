import type { RunConfig } from "../lines/fingerprint.js";
import type { JobReplay } from "../runners/job.js";
import type { RunAnswer } from "./run-answer.js";

/**
 * What a replay run does, and which of its programs get the profile's secrets. Stored as `replay` in the `beginning` of
 * the run's input.
 */
export interface ReplayTerms {
  /** `repeat` starts the agent. `check` only runs the setups and the check on the run's starting point. */
  readonly does: JobReplay["does"];
  readonly secretsFor: {
    readonly check: boolean;
    /** The repositories whose setup gets the secrets, in the order of the config. */
    readonly setup: readonly string[];
  };
  /** The expected result to append to the agent's prompt; absent for none. */
  readonly answer?: RunAnswer;
}

/**
 * The parts of a config that define the setup commands and the check command. The runner starts these commands besides
 * the agent.
 */
export type CommandConfig = Pick<RunConfig, "repositories"> & { readonly station: Pick<RunConfig["station"], "check"> };

/**
 * Returns the replay terms of a run under `config`. The agent always gets the secrets. The check and each setup get the
 * secrets only if `live` has the same command, because anyone who may plan can write the commands of `config`.
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
