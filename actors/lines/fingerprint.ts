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

/** The config that a run at the station runs with. */
export function runConfig(line: Pick<LineFields, "repositories">, station: StationBody, setup: RunSetup): RunConfig {
  const { id: _id, name: _name, passesTo: _passesTo, alerts: _alerts, runners: _runners, ...affecting } = station;
  return { station: affecting, repositories: line.repositories, ...setup };
}

/** A SHA-256 (hex) over the config, the same for equal configs whatever the order of their members. */
export function toFingerprint(config: RunConfig): string {
  return createHash("sha256").update(canonicalJson(config)).digest("hex");
}
