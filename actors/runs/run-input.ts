import type { Turn } from "../../runtime/turns/turn.js";
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
 * Records the starting commits that the runner reports, but only those that the input left open. If the runner reports
 * a repository twice, the last report applies.
 */
export function recordBases(turn: Turn, bases: readonly CheckoutBase[]): void {
  const { partition, id } = turn.self;
  const before = getRunInput(turn, partition, id);
  const { beginning } = before;
  if (beginning === null) return;
  const known = new Map(bases.map((base) => [base.repository, base]));
  const checkouts = beginning.checkouts.map((checkout) => settled(checkout, known.get(checkout.repository)));
  if (checkouts.every((checkout, index) => checkout === beginning.checkouts[index])) return;
  runInputs.put(turn, partition, before, { ...before, beginning: { ...beginning, checkouts } });
}

/**
 * Returns the checkout with the starting commit that its runner reported. Returns the same object if the report adds
 * nothing.
 */
function settled(checkout: InputCheckout, reported: CheckoutBase | undefined): InputCheckout {
  if (reported === undefined || checkout.isBegun === true) return checkout;
  const { base, merged } = reported;
  const { branch, merges } = checkout;
  if (branch === undefined) return checkout.base === null ? { ...checkout, base } : checkout;
  // A runner whose setup failed reports no branch. If the reported commit is not `base`, the runner started at the
  // branch's head.
  const isAtHead = reported.branch === branch || base !== checkout.base;
  return {
    ...checkout,
    base,
    isBegun: true,
    ...(isAtHead && { diff: null }),
    ...(merges !== undefined && merged !== undefined && { merges: { ...merges, commit: merged } }),
  };
}

function toInputBrief(turn: Turn, { notes, ...brief }: RunBrief): InputBrief {
  const text = notes.length === 0 ? "" : JSON.stringify(notes);
  return { ...brief, notes: storeText(turn, turn.self.partition, text) };
}

function secretVersions(turn: Turn, names: readonly string[]): ClaimedInput["secrets"] {
  const findVersion = (name: string) =>
    findResourceAt<SecretFields>(turn, turn.self.partition, "secret", name)?.fields.valueVersion ?? null;
  return Object.fromEntries(names.map((name) => [name, findVersion(name)]));
}
