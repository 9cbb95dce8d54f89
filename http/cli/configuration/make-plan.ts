import { snakeCase } from "../../../actors/export/attributes.js";
import { byCodeUnits } from "../../../actors/export/path-order.js";
import { valueAt } from "./at-path.js";
import { hiddenAttribute } from "./attribute-names.js";
import { type FieldChange, isSame, listChanges, plainAttributes } from "./differences.js";
import type { Folder, WantedResource } from "./folder.js";
import { exportedKinds, type ResourceBlock } from "./hcl-module.js";
import type { LiveResource, TargetWorkspace } from "./live.js";
import { locate } from "./locate.js";
import { Faults, placeText, refuse } from "./refused.js";
import type { Value } from "./value.js";

/** A hidden value that a write sends. */
export interface HiddenValue {
  readonly path: string;
  readonly evaluate: () => Value;
}

/** A change of one resource. */
export type Step =
  | {
      readonly action: "create";
      readonly wanted: WantedResource;
      readonly fields: readonly FieldChange[];
      readonly hidden: readonly HiddenValue[];
      /**
       * The address in the resource's import block, if it differs from the resource's address; otherwise null. The
       * service keeps its resource with that address, unless the apply prunes it.
       */
      readonly was: string | null;
    }
  | {
      readonly action: "update";
      readonly wanted: WantedResource;
      readonly live: LiveResource;
      readonly fields: readonly FieldChange[];
      readonly hidden: readonly HiddenValue[];
    }
  | { readonly action: "delete"; readonly live: LiveResource };

/** A hidden value of the folder that is not compared with the service. */
export interface NotCompared {
  readonly kind: string;
  readonly address: string;
  readonly field: string;
}

/** The steps that an apply would carry out, in order, and the values and resources that it would not change. */
export interface Plan {
  readonly target: TargetWorkspace;
  readonly steps: readonly Step[];
  /** The resources of the service that the folder does not have, and that stay. */
  readonly others: readonly LiveResource[];
  /**
   * The hidden values of the folder that an apply does not send. The service never returns hidden values, so a plan
   * cannot compare them.
   */
  readonly notCompared: readonly NotCompared[];
  /** Whether import blocks name a workspace other than `target`. */
  readonly isElsewhere: boolean;
  /** Remarks about the folder. */
  readonly notes: readonly string[];
}

/** Compares a folder with the service. Throws a {@link CommandError} with the file and line of each error. */
export function makePlan(
  folder: Folder,
  {
    target,
    live,
    isPruned,
  }: {
    readonly target: TargetWorkspace;
    readonly live: readonly LiveResource[];
    readonly isPruned: boolean;
  },
): Plan {
  const faults = new Faults();
  const resources = [...folder.module.resources.values()];
  const wanted = resources.flatMap((resource) => faults.try(() => folder.evaluate(resource)) ?? []);
  faults.end();
  faults.try(() => refuseTwice(wanted));
  const ordered = inReferenceOrder(wanted);
  faults.try(() => refuseCircles(folder, ordered));
  const imports = readImports(folder, target);
  const steps = ordered.flatMap((each) => faults.try(() => toStep(folder, each, imports.addresses)) ?? []);
  faults.end();
  const kept = new Set(wanted.flatMap(({ resource }) => folder.match(resource)?.id ?? []));
  // The workspace itself is never deleted.
  const others = live.filter(({ id, kind }) => !kept.has(id) && kind.heldBy !== "none");
  const deletes = isPruned ? [...others].reverse().map((each): Step => ({ action: "delete", live: each })) : [];
  return {
    target,
    steps: [...steps, ...deletes],
    others: isPruned ? [] : others,
    notCompared: ordered.flatMap((each) => listNotCompared(each, steps)),
    notes: imports.notes,
    isElsewhere: imports.notes.length > 0,
  };
}

function toStep(folder: Folder, wanted: WantedResource, imports: ReadonlyMap<string, string>): Step | [] {
  const { resource, complete, fields } = wanted;
  const { kind } = resource;
  const live = folder.match(resource);
  if (live === null) {
    const hidden = hiddenValues(wanted);
    const set = [...listChanges({}, plainAttributes(kind, fields)), ...hidden.map(toSecretChange)];
    const imported = imports.get(resource.name);
    const was = imported !== undefined && imported !== wanted.address ? imported : null;
    return { action: "create", wanted, fields: set, hidden, was };
  }
  refuseFixed(wanted, live);
  const changes = listChanges(plainAttributes(kind, live.fields), plainAttributes(kind, complete));
  if (changes.length === 0) return [];
  const hidden = hiddenValues(wanted, live);
  return { action: "update", wanted, live, fields: [...changes, ...hidden.map(toSecretChange)], hidden };
}

function listNotCompared(wanted: WantedResource, steps: readonly Step[]): readonly NotCompared[] {
  const { resource, address, hidden } = wanted;
  const step = steps.find((each) => each.action !== "delete" && each.wanted === wanted);
  const sent = step === undefined || step.action === "delete" ? [] : step.hidden.map(({ path }) => path);
  return [...hidden.keys()]
    .filter((path) => !sent.includes(path))
    .map((path) => ({ kind: resource.kind.name, address, field: hiddenAttribute(path).join(".") }));
}

function toSecretChange({ path }: HiddenValue): FieldChange {
  return { field: hiddenAttribute(path).join("."), old: null, new: null, isSecret: true };
}

/**
 * Returns the hidden values that a write sends. An update sends a value with a version only if the version changes. It
 * cannot compare a value without a version, so it sends that value whenever the folder's variables define it.
 */
function hiddenValues(wanted: WantedResource, live?: LiveResource): readonly HiddenValue[] {
  return [...wanted.hidden].flatMap(([path, evaluate]) => {
    const version = `${path}Version`.split(".");
    const hasVersion = valueAt(wanted.complete, version) !== undefined;
    if (live !== undefined && hasVersion && isSame(valueAt(wanted.complete, version), valueAt(live.fields, version)))
      return [];
    if (live !== undefined && !hasVersion && new Faults().try(evaluate) === undefined) return [];
    // Evaluate the value now, so that a missing variable is an error of the plan.
    evaluate();
    return [{ path, evaluate }];
  });
}

/**
 * Throws {@link Refused} if a fixed field differs from the same field of the live resource. Does not check the key,
 * because a different key means a different resource.
 */
function refuseFixed({ resource: { kind, block, name }, complete, address }: WantedResource, live: LiveResource): void {
  for (const path of kind.fixed.slice(1)) {
    const [old, now] = [valueAt(live.fields, path.split(".")), valueAt(complete, path.split("."))];
    if (isSame(old, now)) continue;
    const attribute = path.split(".").map(snakeCase).join(".");
    refuse(
      locate(block, path).place,
      `${name}: ${attribute} of the ${kind.name} ${address} cannot change from ${JSON.stringify(old)} to ` +
        `${JSON.stringify(now)}: give the resource another ${snakeCase(kind.fixed[0] ?? "key")}`,
    );
  }
}

function refuseTwice(wanted: readonly WantedResource[]): void {
  const seen = new Map<string, ResourceBlock>();
  for (const { resource, address } of wanted) {
    const { kind, block, name } = resource;
    const before = seen.get(`${kind.name} ${address}`);
    if (before !== undefined) {
      refuse(
        block.place,
        `${name} is the ${kind.name} ${address}, as is ${before.name} (${placeText(before.block.place)})`,
      );
    }
    seen.set(`${kind.name} ${address}`, resource);
  }
}

/** Sorts resources by kind and address, but puts each resource after the resources that it refers to. */
function inReferenceOrder(wanted: readonly WantedResource[]): readonly WantedResource[] {
  const place = ({ resource }: WantedResource) => exportedKinds.indexOf(resource.kind);
  const sorted = [...wanted].sort(
    (left, right) => place(left) - place(right) || byCodeUnits(left.address, right.address),
  );
  const byName = new Map(sorted.map((each) => [each.resource.name, each]));
  const byAddress = new Map(sorted.map((each) => [`${each.resource.kind.name} ${each.address}`, each]));
  const ordered = new Set<WantedResource>();
  const open = new Set<WantedResource>();
  const visit = (each: WantedResource): void => {
    // In a cycle of references, the order by kind decides.
    if (ordered.has(each) || open.has(each)) return;
    open.add(each);
    for (const before of [
      ...listNamed(each, byAddress),
      ...[...each.references].flatMap((name) => byName.get(name) ?? []),
    ]) {
      visit(before);
    }
    open.delete(each);
    ordered.add(each);
  };
  for (const each of sorted) visit(each);
  return [...ordered];
}

/** Lists the resources of the folder to which a resource refers by key. */
function listNamed(
  { resource: { kind }, address, complete }: WantedResource,
  byAddress: ReadonlyMap<string, WantedResource>,
) {
  const teamKey = kind.heldBy === "team" ? (address.split("/")[0] ?? "") : "";
  return kind
    .references(complete, teamKey)
    .flatMap((reference) => byAddress.get(`${reference.kind} ${reference.address}`) ?? []);
}

/** Refuses a reference to a new resource that is created later, because the resource has no id before that. */
function refuseCircles(folder: Folder, ordered: readonly WantedResource[]): void {
  const done = new Set<string>();
  for (const { resource, references } of ordered) {
    for (const name of references) {
      const other = folder.module.resources.get(name);
      if (other === undefined || done.has(name) || folder.match(other) !== null) continue;
      refuse(resource.block.place, `${resource.name} and ${name} refer to each other: name one of them by its key`);
    }
    done.add(resource.name);
  }
}

/**
 * Returns the addresses in the import blocks for this workspace, by resource name. Also returns a note if other import
 * blocks are for another workspace; these blocks have no effect.
 */
function readImports(folder: Folder, target: TargetWorkspace) {
  const { imports } = folder.module;
  const addresses = new Map<string, string>();
  let elsewhere = 0;
  for (const [name, { value }] of imports) {
    const id = typeof value === "string" ? value : "";
    const isWorkspace = folder.module.resources.get(name)?.kind.heldBy === "none";
    const at = id.indexOf("/");
    if (isWorkspace ? id === target.slug : at > 0 && id.slice(0, at) === target.id) {
      addresses.set(name, isWorkspace ? id : id.slice(at + 1));
    } else elsewhere += 1;
  }
  const notes = elsewhere === 0 ? [] : [`${elsewhere} import blocks are for another workspace and have no effect here`];
  return { addresses, notes };
}
