import { type Address, address } from "./address.js";

/** What tells messages apart. */
interface Typed {
  readonly type: string;
}

declare const takes: unique symbol;

/**
 * The address of an actor that takes `Messages`. Plain data like any address, so it may lie in a row or a message; what
 * is known of its messages is known to the compiler alone.
 */
export interface Reference<in Messages extends Typed> extends Address {
  readonly [takes]: (message: Messages) => void;
}

/** Makes the references to the actors of one kind. The only place where the kind's name stands. */
export interface ReferenceTo<in out Messages extends Typed, Place extends readonly unknown[] = PartitionAndId> {
  (...place: Place): Reference<Messages>;
  readonly kind: string;
  /**
   * The same references for a higher area, which sends more messages than those known here. The actor type is made of
   * the widest, so that its machine is held to take them all.
   */
  widen<More extends Typed>(): ReferenceTo<Messages | More, Place>;
}

type PartitionAndId = readonly [partition: string, id: string];

/** The messages that an address takes: any where nothing is known of it. */
export type MessageTo<To extends Address> = To extends Reference<infer Messages> ? Messages : Typed;

/** References to the actors of a kind, each by its partition and id. */
export function reference<Messages extends Typed>(kind: string): ReferenceTo<Messages>;
/** The same, where an actor is found by something else; `locate` gives its partition and id. */
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

/** What {@link ReferenceTo} is at run time. */
interface AnyReferences {
  (...place: readonly string[]): Address;
  readonly kind: string;
  widen(): AnyReferences;
}
