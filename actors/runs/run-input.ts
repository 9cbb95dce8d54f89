import type { Turn } from "../../runtime/turn.js";
import { findResourceAt } from "../resources/resource.table.js";
import type { CheckoutBase } from "../runners/protocol.js";
import { storeText } from "../tables/text-blobs.js";
import type { SecretFields } from "../workspaces/secret.kind.js";
import type { StartRun } from "./run.messages.js";
import { type ClaimedInput, getRunInput, type InputBrief, type InputCheckout, runInputs } from "./run-input.table.js";
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

/**
 * Records the commits that the runner began from, where the input left them open; any others are ignored. Of two reports
 * about a repository the last counts.
 */
export function recordBases(turn: Turn, bases: readonly CheckoutBase[]): void {
  const { partition, id } = turn.self;
  const before = getRunInput(turn, partition, id);
  const { beginning } = before;
  const known = new Map(bases.map(({ repository, base }) => [repository, base]));
  const isOpen = ({ repository, base }: InputCheckout) => base === null && known.has(repository);
  if (beginning === null || !beginning.checkouts.some(isOpen)) return;
  const checkouts = beginning.checkouts.map((checkout) =>
    isOpen(checkout) ? { ...checkout, base: known.get(checkout.repository) ?? null } : checkout,
  );
  runInputs.put(turn, partition, before, { ...before, beginning: { ...beginning, checkouts } });
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
