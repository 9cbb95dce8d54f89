import { type Address, address } from "./address.js";

interface Typed {
  readonly type: string;
}

declare const takes: unique symbol;

/**
 * The address of an actor that takes `Messages`. Plain data like any address, so it may be part of a row or a message;
 * only the compiler knows the message types.
 */
export interface Reference<in Messages extends Typed> extends Address {
  readonly [takes]: (message: Messages) => void;
}

/** Creates references to the actors of one kind. The kind's name is written only here. */
export interface ReferenceTo<in out Messages extends Typed, Place extends readonly unknown[] = PartitionAndId> {
  (...place: Place): Reference<Messages>;
  readonly kind: string;
  /**
   * The same references for a higher area, which sends further messages. The actor type is defined with the widest one,
   * so that the compiler checks that its machine takes them all.
   */
  widen<More extends Typed>(): ReferenceTo<Messages | More, Place>;
}

type PartitionAndId = readonly [partition: string, id: string];

/** The messages that an address takes: any message for an untyped address. */
export type MessageTo<To extends Address> = To extends Reference<infer Messages> ? Messages : Typed;

/** References to the actors of a kind, by partition and id. */
export function reference<Messages extends Typed>(kind: string): ReferenceTo<Messages>;
/** The same by other arguments, from which `locate` makes partition and id. */
export function reference<Messages extends Typed, Place extends readonly unknown[]>(
  kind: string,
  locate: (...place: Place) => PartitionAndId,
): ReferenceTo<Messages, Place>;
export function reference(kind: string, locate?: (...place: readonly unknown[]) => PartitionAndId): AnyReferences {
  const toAddress = (...place: readonly string[]): Address => {
    const [partition = "", id = ""] = locate === undefined ? place : locate(...place);
    return address(partition, kind, id);
  };
  const made: AnyReferences = Object.assign(toAddress, { kind, widen: () => made });
  return made;
}

/** {@link ReferenceTo} without its types. */
interface AnyReferences {
  (...place: readonly string[]): Address;
  readonly kind: string;
  widen(): AnyReferences;
}
