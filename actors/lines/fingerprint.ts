import { createHash } from "node:crypto";
import { canonicalJson } from "../resources/canonical-json.js";
import type { LineFields } from "./line.js";
import type { RunSetup } from "./run-setup.js";
import type { StationBody } from "./station.js";

/** Everything that affects a run at a station. */
export interface RunConfig extends RunSetup {
  readonly station: Omit<StationBody, "id" | "name" | "passesTo" | "alerts" | "runners">;
  readonly repositories: LineFields["repositories"];
}

/** The service's part in judging. */
export interface JudgingSetup {
  /** The model that answers for judges that name none; null when judging is not set up. */
  readonly defaultModel: string | null;
  /** The version of the service's own prompt for judging. */
  readonly promptVersion: number;
}

/** The config that a run at the station runs with. */
export function runConfig(line: Pick<LineFields, "repositories">, station: StationBody, setup: RunSetup): RunConfig {
  const { id: _id, name: _name, passesTo: _passesTo, alerts: _alerts, runners: _runners, ...affecting } = station;
  return { station: affecting, repositories: line.repositories, ...setup };
}

/**
 * The fingerprint of a run: of everything in its config. All fingerprints are a SHA-256 (hex), the same for equal values
 * whatever the order of their members.
 */
export function toFingerprint(config: RunConfig): string {
  return digestOf(config);
}

/**
 * The fingerprint of how runs go: of what an agent does its work with. Leaves out how the work is scored (`check`,
 * `judge`), what is made of it afterwards (`diffs`), and the order of skills and tools.
 */
export function toRunningFingerprint({ station, skills, profile, repositories }: RunConfig): string {
  const { harness, model, effort, prompt, tools, decisions, timeoutMinutes } = station;
  return digestOf({
    ...{ harness, model, effort, prompt, decisions, timeoutMinutes, repositories },
    profile: station.profile === null ? null : { key: station.profile, content: profile },
    skills: [...skills].sort((left, right) => (left.key < right.key ? -1 : 1)),
    tools: [...tools].sort((left, right) => (left.tool < right.tool ? -1 : 1)),
  });
}

/** The fingerprint of how work is scored: of the check, the judge, the model that answers it and our prompt for it. */
export function toScoringFingerprint({ station: { check, judge } }: RunConfig, judging: JudgingSetup): string {
  if (judge === null) return digestOf({ check, judge });
  const { model, ...asked } = judge;
  const { defaultModel, promptVersion } = judging;
  return digestOf({ check, judge: asked, model: model || defaultModel, promptVersion });
}

function digestOf(value: object): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
