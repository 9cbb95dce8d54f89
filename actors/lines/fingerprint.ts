import { createHash } from "node:crypto";
import { canonicalJson } from "../resources/canonical-json.js";
import type { LineFields } from "./line.js";
import type { RunSetup } from "./run-setup.js";
import type { StationBody } from "./station.js";

/** All settings that affect a run at a station. */
export interface RunConfig extends RunSetup {
  readonly station: Omit<StationBody, "id" | "name" | "passesTo" | "alerts" | "runners">;
  readonly repositories: LineFields["repositories"];
}

/** The service's own settings for judging. */
export interface JudgingSetup {
  /** The model for judges that name none; null if the deployment has no judging. */
  readonly defaultModel: string | null;
  /** The version of the service's own judging prompt. */
  readonly promptVersion: number;
}

/** Returns the config of a run at the station. */
export function runConfig(line: Pick<LineFields, "repositories">, station: StationBody, setup: RunSetup): RunConfig {
  const { id: _id, name: _name, passesTo: _passesTo, alerts: _alerts, runners: _runners, ...affecting } = station;
  return { station: affecting, repositories: line.repositories, ...setup };
}

/**
 * The fingerprint of a run, over its whole config. All fingerprints here are a SHA-256 (hex), and do not depend on the
 * order of members.
 */
export function toFingerprint(config: RunConfig): string {
  return toDigest(config);
}

/**
 * The fingerprint of all settings that the agent's work depends on. Settings that only matter after the work do not
 * count: the scoring (`check`, `judge`) and the processing of the result (`diffs`). The order of skills and tools does
 * not count either.
 */
export function toRunningFingerprint({ station, skills, profile, repositories }: RunConfig): string {
  const { harness, model, effort, prompt, tools, decisions, timeoutMinutes } = station;
  return toDigest({
    harness,
    model,
    effort,
    prompt,
    decisions,
    timeoutMinutes,
    repositories,
    profile: station.profile === null ? null : { key: station.profile, content: profile },
    skills: [...skills].sort((left, right) => (left.key < right.key ? -1 : 1)),
    tools: [...tools].sort((left, right) => (left.tool < right.tool ? -1 : 1)),
  });
}

/**
 * The fingerprint of the scoring. It covers the check. If the station has a judge, it also covers the judge, the
 * judge's model and the version of the service's judging prompt.
 */
export function toScoringFingerprint({ station: { check, judge } }: RunConfig, judging: JudgingSetup): string {
  if (judge === null) return toDigest({ check, judge });
  const { model, ...asked } = judge;
  const { defaultModel, promptVersion } = judging;
  return toDigest({ check, judge: asked, model: model || defaultModel, promptVersion });
}

function toDigest(value: object): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
