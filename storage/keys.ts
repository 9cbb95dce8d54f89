/**
 * The only list of key spaces. Every key is `[partition, space, ...]`. A partition is the unit that can live on another
 * node. Directories over all partitions, and names that must be unique among them, are in {@link GLOBAL_PARTITION}.
 */

/** The partition of directories (`runtime/directory.ts`) and of the service's own actors. */
export const GLOBAL_PARTITION = "~";

/** `[partition, "row", table, ...id]`: rows of the domain. */
export const rowSpace = "row";
/** `[partition, "actor", kind, id]`: an actor's snapshot. */
export const actorSpace = "actor";
/**
 * `[partition, "mail", kind, id, sequence]`: a message its receiver had not taken at the commit, under the receiver.
 */
export const undeliveredSpace = "mail";
/**
 * `[partition, "effect", kind, owner, id]`: an effect whose result was not taken yet, under the actor that started it.
 */
export const effectSpace = "effect";
/** `[partition, "begun", kind, owner, id]`: the pending effect of that owner and id may have begun. */
export const begunSpace = "begun";
/** `["~", "timer", dueMs, partition, kind, id, name]` -> when it was set, or null: wake-ups by due time. */
export const timerSpace = "timer";
/** `[partition, "feed", sequence]`: several entries of the change feed, under the number of the last one. */
export const feedSpace = "feed";
/**
 * `[partition, "seen", kind, id, messageId]`: message ids that an actor has taken;
 * `["~", "seen", expiresMs, partition, kind, id, messageId]`: the same in order of expiry.
 */
export const dedupSpace = "seen";
/** `[partition, "dead", id]`: dead letters. */
export const deadLetterSpace = "dead";
/**
 * `["~", "meta", name]`: format and counters of the store itself; `[partition, "meta", "migration"]`: progress of the
 * migration of a partition.
 */
export const metaSpace = "meta";
