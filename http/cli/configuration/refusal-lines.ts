import type { FieldError } from "../../../actors/refusal.js";
import { attributePath, withAttributes } from "./attribute-names.js";
import type { ResourceBlock } from "./hcl-module.js";
import { locate } from "./locate.js";
import { placeText } from "./refused.js";

/** Why the service refuses a write: the detail of the problem, and its invalid fields. */
export interface WriteRefusal {
  readonly detail: string;
  readonly errors: readonly FieldError[];
}

/** Describes errors of attributes with their places, in the order of the file: `main.tf:12: files must be a list`. */
export function errorLines({ block, name }: ResourceBlock, errors: readonly FieldError[]): readonly string[] {
  return errors
    .map((error) => ({ ...locate(block, error.path), message: error.message }))
    .sort((left, right) => left.place.node.start - right.place.node.start)
    .map(({ place, path, message }) => {
      // An error without a place of its own is reported at the start of the block, with the resource's name.
      const of = place.node === block.place.node ? `${name}: ` : "";
      return `${placeText(place)}: ${of}${path === "" ? "" : `${path} `}${message}`;
    });
}

/** Converts errors of a body to errors of attributes. */
export function toAttributeErrors({ kind }: ResourceBlock, errors: readonly FieldError[]): readonly FieldError[] {
  return errors.map(({ path, message }) => ({
    path: attributePath(kind, path),
    message: withAttributes(kind, message),
  }));
}

/** Describes the refusal of a write, one line for each error. */
export function refusalLines(resource: ResourceBlock, { detail, errors }: WriteRefusal): readonly string[] {
  if (errors.length > 0) return errorLines(resource, toAttributeErrors(resource, errors));
  return [`${placeText(resource.block.place)}: ${resource.name}: ${withAttributes(resource.kind, detail)}`];
}
