import {
  listElements,
  type SyntaxNode,
  toHolder,
  toInner,
} from "../../../actors/config-pull-requests/edit/hcl-syntax.js";
import { snakeCase } from "../../../actors/export/attributes.js";
import type { FileBlock } from "./hcl-file.js";
import type { Place } from "./refused.js";

/** Where a field of a resource is written. */
export interface Located {
  /** The place of the value or, if it is missing, of the nearest object around it. */
  readonly place: Place;
  /** The path in the form of attributes. */
  readonly path: string;
}

/** Matches a part of a path: a name, an index, or a quoted name. */
const PART = /\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g;

/** Finds a field by its path, in the form of the API (`stations[0].timeoutMinutes`) or of attributes. */
export function locate({ place, holder }: FileBlock, path: string): Located {
  const { file } = place;
  let node: SyntaxNode = holder.node;
  let isFound = true;
  let written = "";
  for (const [part, quoted, index, name = ""] of path.matchAll(PART)) {
    const below: Below | null = isFound
      ? index === undefined
        ? memberBelow(file.text, node, quoted ?? name)
        : elementBelow(node, Number(index))
      : null;
    if (below === null) isFound = false;
    else node = below.node;
    const plain = below?.name ?? snakeCase(name);
    written += quoted !== undefined || index !== undefined ? part : `${written === "" ? "" : "."}${plain}`;
  }
  return { place: { file, node: node === holder.node ? place.node : node }, path: written };
}

interface Below {
  readonly node: SyntaxNode;
  readonly name: string | null;
}

function memberBelow(text: string, node: SyntaxNode, name: string): Below | null {
  const names = [name, snakeCase(name), `${snakeCase(name)}_wo`, snakeCase(name).replace(/_version$/, "_wo_version")];
  const { members, blocks } = toHolder(text, toInner(node));
  const member = members.find((each) => each.name !== null && names.includes(each.name));
  if (member !== undefined) return { node: member.value, name: member.name };
  const block = blocks.find(({ type }) => names.includes(type));
  return block === undefined ? null : { node: block.node, name: block.type };
}

function elementBelow(node: SyntaxNode, index: number): Below | null {
  const inner = toInner(node);
  // For a list that is written as blocks, the error names the first block.
  if (inner.type !== "tuple") return { node, name: null };
  const element = listElements(inner)[index];
  return element === undefined ? null : { node: element, name: null };
}
