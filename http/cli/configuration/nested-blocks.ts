import { type Holder, toHolder } from "../../../actors/config-pull-requests/edit/hcl-syntax.js";
import { type Schema, toProperties } from "../../../actors/export/attributes.js";
import { refuse, type SourceFile } from "./refused.js";
import { isList, isMap, type Value, type ValueMap } from "./value.js";

/**
 * Converts objects that are written as blocks (`judge { … }`) to attributes: to a list where the schema has a list,
 * otherwise to one object.
 */
export function fromBlocks(schema: Schema, file: SourceFile, holder: Holder, values: ValueMap): ValueMap {
  if (holder.blocks.length === 0) return values;
  const result: Record<string, Value> = { ...values };
  for (const type of new Set(holder.blocks.map((block) => block.type))) {
    const blocks = holder.blocks.filter((block) => block.type === type);
    const [first, second] = blocks;
    const also = holder.members.find(({ name }) => name === type);
    if (also !== undefined) refuse({ file, node: also.node }, `${type} is also written as a block`);
    const below = [...toProperties(schema).values()].find(({ snake }) => snake === type)?.schema ?? {};
    const items = itemsOf(below);
    const given = values[type];
    const converted = (isList(given) ? given : []).map((value, index) => {
      const node = blocks[index]?.node;
      if (node === undefined || !isMap(value)) return value;
      return fromBlocks(items ?? objectOf(below), file, toHolder(file.text, node), value);
    });
    if (items === null && first !== undefined && second !== undefined) {
      refuse({ file, node: second.node }, `there is already a block ${type}`);
    }
    result[type] = items === null ? (converted[0] ?? null) : converted;
  }
  return result;
}

/** Returns the schema of a list's items; null if the schema is not a list. */
function itemsOf(schema: Schema): Schema | null {
  const list = alternatives(schema).find(({ items }) => items !== undefined);
  const items = list?.items;
  if (items === undefined) return null;
  return typeof items === "object" && !Array.isArray(items) ? objectOf(items) : {};
}

function objectOf(schema: Schema): Schema {
  return alternatives(schema).find(({ type }) => type === "object") ?? {};
}

function alternatives(schema: Schema): readonly Schema[] {
  const nested = (schema.anyOf ?? schema.oneOf ?? []).filter((each): each is Schema => typeof each === "object");
  return nested.length === 0 ? [schema] : nested.flatMap(alternatives);
}
