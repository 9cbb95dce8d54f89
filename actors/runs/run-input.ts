import type { Turn } from "../../runtime/turn.js";
import { findResourceAt } from "../resources/resource.table.js";
import { storeText } from "../tables/text-blobs.js";
import type { SecretFields } from "../workspaces/secret.kind.js";
import type { StartRun } from "./run.messages.js";
import { type ClaimedInput, getRunInput, type InputBrief, runInputs } from "./run-input.table.js";
import type { OwnedRun, RunBrief, RunOwner } from "./run-owner.js";

/** Records the config and the beginning of a run, in the turn that queues it. */
export function recordBeginning(turn: Turn, { config, beginning }: StartRun): void {
  runInputs.insert(turn, turn.self.partition, { runId: turn.self.id, config, beginning, claimed: null });
}

/** Records the brief for the run's agent and the versions of its secrets, in the turn that claims the run. */
export function recordBrief(turn: Turn, run: OwnedRun, owner: RunOwner): void {
  const { partition, id } = turn.self;
  const before = getRunInput(turn, partition, id);
  const claimed: ClaimedInput = {
    brief: owner.brief === null ? null : toInputBrief(turn, owner.brief(turn, partition, run)),
    secrets: secretVersions(turn, Object.values(before.config.profile?.secrets ?? {})),
  };
  runInputs.put(turn, partition, before, { ...before, claimed });
}

function toInputBrief(turn: Turn, { notes, ...brief }: RunBrief): InputBrief {
  const text = notes.length === 0 ? "" : JSON.stringify(notes);
  return { ...brief, notes: storeText(turn, turn.self.partition, text) };
}

function secretVersions(turn: Turn, names: readonly string[]): ClaimedInput["secrets"] {
  const versionOf = (name: string) =>
    findResourceAt<SecretFields>(turn, turn.self.partition, "secret", name)?.fields.valueVersion ?? null;
  return Object.fromEntries(names.map((name) => [name, versionOf(name)]));
}
