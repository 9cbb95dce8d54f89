import type { Place } from "./refused.js";
import type { Value } from "./value.js";

/** An expression that these commands support. */
export type Expression = { readonly place: Place } & (
  | { readonly kind: "reference"; readonly parts: readonly ReferencePart[] }
  | { readonly kind: "file"; readonly path: Expression }
  /** A text without the newlines at its end. */
  | { readonly kind: "chomp"; readonly text: Expression }
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "literal"; readonly name: string }
);

/** A name or index of a reference. An index in brackets is an expression of its own. */
export type ReferencePart = string | Expression;

/** Formats a resource, variable or attribute as people write it: `service_team.core.id`. */
export function partsText(parts: readonly ReferencePart[]): string {
  return parts
    .map((part) => (typeof part === "string" ? part : "[…]"))
    .join(".")
    .replaceAll(".[", "[");
}
