import { type Address, address } from "./address.js";

interface Typed {
  readonly type: string;
}

declare const takes: unique symbol;

/**
 * The address of an actor that accepts `Messages`. It is plain data like any address, so a row or message may contain
 * it. Only the compiler knows the message types.
 */
export interface Reference<in Messages extends Typed> extends Address {
  readonly [takes]: (message: Messages) => void;
}

/** Creates references to the actors of one kind. The name of the kind is written only here. */
export interface ReferenceTo<in out Messages extends Typed, Place extends readonly unknown[] = PartitionAndId> {
  (...place: Place): Reference<Messages>;
  readonly kind: string;
  /**
   * Returns the same references, typed for more messages. A higher area uses this to send its own messages to the
   * actors. Define the actor type with the widest reference, so that the compiler checks that the machine accepts all
   * messages.
   */
  widen<More extends Typed>(): ReferenceTo<Messages | More, Place>;
}

type PartitionAndId = readonly [partition: string, id: string];

/** The messages that an address accepts; any message for an untyped address. */
export type MessageTo<To extends Address> = To extends Reference<infer Messages> ? Messages : Typed;

/** Creates references to actors of a kind, by partition and id. */
export function reference<Messages extends Typed>(kind: string): ReferenceTo<Messages>;
/** Creates references from other arguments, which `locate` converts to partition and id. */
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
