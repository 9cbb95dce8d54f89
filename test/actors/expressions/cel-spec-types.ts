import type { Decl, Type as ProtoType } from "@bufbuild/cel-spec/cel/expr/checked_pb.js";
import * as types from "../../../actors/expressions/cel-types.js";
import { type Declarations, extended, type Overload } from "../../../actors/expressions/signatures.js";

/** Returns the value. Throws if it is undefined, because then a part of the test is missing. */

export function need<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("a part of a test is missing");
  return value;
}

/** Protobuf messages that represent JSON, with cel-go's types for them. */
const JSON_MESSAGES: Readonly<Record<string, types.Type>> = {
  "google.protobuf.Struct": types.toMap(types.STRING, types.DYN),
  "google.protobuf.ListValue": types.toList(types.DYN),
  "google.protobuf.Value": types.DYN,
  "google.protobuf.Timestamp": types.TIMESTAMP,
  "google.protobuf.Duration": types.DURATION,
};

const nested = types.toObject({ bb: types.INT });
/** The fields of the tests' protobuf message that have a type of JSON, too. */
const plainFields = types.toObject({
  single_int32: types.INT,
  single_int64: types.INT,
  repeated_int32: types.toList(types.INT),
  repeated_int64: types.toList(types.INT),
  single_value: types.DYN,
  single_struct: types.toMap(types.STRING, types.DYN),
  single_nested_message: nested,
  repeated_nested_message: types.toList(nested),
  map_int64_nested_type: types.toMap(types.INT, types.DYN),
  map_string_string: types.toMap(types.STRING, types.STRING),
  single_timestamp: types.TIMESTAMP,
  single_duration: types.DURATION,
});

/**
 * Converts a type from its protobuf form. The protobuf message of the tests becomes an object with {@link plainFields}.
 */
export function typeFrom({ typeKind }: ProtoType): types.Type {
  const scalars = [types.DYN, types.BOOL, types.INT, types.UINT, types.DOUBLE, types.STRING, types.BYTES];
  switch (typeKind.case) {
    case "primitive":
      return scalars[typeKind.value] ?? types.DYN;
    case "null":
      return types.NULL;
    case "wellKnown":
      return [types.DYN, types.DYN, types.TIMESTAMP, types.DURATION][typeKind.value] ?? types.DYN;
    case "listType":
      return types.toList(typeFrom(need(typeKind.value.elemType)));
    case "mapType":
      return types.toMap(typeFrom(need(typeKind.value.keyType)), typeFrom(need(typeKind.value.valueType)));
    case "type":
      return types.toType(typeFrom(typeKind.value));
    case "typeParam":
      return { kind: "parameter", name: typeKind.value };
    case "abstractType":
      return types.opaque(typeKind.value.name, ...typeKind.value.parameterTypes.map(typeFrom));
    case "messageType":
      return JSON_MESSAGES[typeKind.value] ?? plainFields;
    case "wrapper":
      throw new Error("there are no wrappers of numbers here");
    default:
      return types.DYN;
  }
}

/** Returns the names that a test declares, with their types. */
export function namesFrom(declared: readonly Decl[]): (readonly [string, types.Type])[] {
  return declared.flatMap(({ name, declKind }) =>
    declKind.case === "ident" ? [[name, typeFrom(need(declKind.value.type))] as const] : [],
  );
}

/** Returns the declarations extended with a test's functions. */
export function withFunctions(base: Declarations, declared: readonly Decl[]): Declarations {
  const functions = declared.flatMap(({ name, declKind }) => {
    if (declKind.case !== "function") return [];
    const overloads = declKind.value.overloads.map(
      ({ isInstanceFunction, params, resultType }): Overload => ({
        isMethod: isInstanceFunction,
        takes: params.map(typeFrom),
        gives: typeFrom(need(resultType)),
      }),
    );
    return [[name, overloads] as const];
  });
  return extended(base, new Map(functions));
}
