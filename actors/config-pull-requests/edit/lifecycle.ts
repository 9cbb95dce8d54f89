import { refuse, type Source, toPlace } from "./edit-source.js";
import type { FoundStation } from "./find-station.js";
import { listElements, type SyntaxNode, toHolder, toInner, toText } from "./hcl-syntax.js";
import { isTrue } from "./idle-module.js";
import { type StationChange, toName } from "./station-changes.js";

/**
 * Refuses changes that the line's `lifecycle` block makes ineffective: `ignore_changes` covers the changed attribute,
 * or `enabled` is not literally `true`. Other settings only control how and when Terraform applies a change.
 */
export function refuseIgnored(source: Source, found: FoundStation, changes: readonly StationChange[]): void {
  const { text } = source;
  const blocks = found.line.blocks.filter(({ type }) => type === "lifecycle");
  for (const { name, value } of blocks.flatMap(({ node }) => toHolder(text, node).members)) {
    const expression = toText(text, value).trim();
    const at = toPlace(source, value);
    if (name === "enabled" && !isTrue(expression)) {
      refuse("not-proven", `At ${at}, lifecycle may prevent the creation of the line: the edit would change nothing.`, {
        expression,
      });
    }
    if (name !== "ignore_changes") continue;
    for (const change of changes) {
      const ignored = ignoredBy(text, value, found, change);
      if (ignored === null) continue;
      const message = `At ${toPlace(source, ignored)}, lifecycle ignores changes of ${toName(change)}: the edit would have no effect.`;
      refuse("not-proven", message, { attribute: toName(change), expression });
    }
  }
}

/** Returns the part of `ignore_changes` that covers at least a part of a change; null if there is none. */
function ignoredBy(text: string, value: SyntaxNode, { path }: FoundStation, change: StationChange): SyntaxNode | null {
  const list = toInner(value);
  // The value is `all`, or another expression that is not a list.
  if (list.type !== "tuple") return value;
  const [attribute, index] = path.slice(-2).map(String);
  const names = [attribute, ...change.path];
  return (
    listElements(list).find((element) => {
      const steps = listSteps(toText(text, element));
      if (steps[0]?.name === "all") return true;
      const station = steps[1]?.index;
      if (station !== undefined && /^\d+$/.test(station) && station !== index) return false;
      return steps
        .flatMap(({ name }) => name ?? [])
        .every((name, place) => place >= names.length || name === names[place]);
    }) ?? null
  );
}

/**
 * Splits a reference such as `stations[0].prompt` into its steps. Also reads the legacy quoted form, such as
 * `"stations.0.prompt"`.
 */
function listSteps(reference: string): readonly { readonly name?: string; readonly index?: string }[] {
  const written = reference.replace(/\s+/g, "").replace(/\["([A-Za-z_][\w-]*)"\]/g, ".$1");
  const steps = written.matchAll(/\.?([A-Za-z_][\w-]*)|\[([^\]]*)\]|\.(\d+|\*)/g);
  return [...steps].map(([, name, index, dotted]) =>
    name === undefined ? { index: index ?? dotted ?? "" } : { name },
  );
}
