/**
 * The only list of key spaces. Every key is `[partition, space, ...]`. A partition is the unit that could move to
 * another node. {@link GLOBAL_PARTITION} has the directories over all partitions, and the names that must be unique in
 * all partitions.
 */

/** The partition of directories (`runtime/directories/directory.ts`) and of the service's own actors. */
export const GLOBAL_PARTITION = "~";

/** `[partition, "row", table, ...id]`: domain rows. */
export const rowSpace = "row";
/** `[partition, "actor", kind, id]`: an actor's snapshot. */
export const actorSpace = "actor";
/**
 * `[partition, "mail", kind, id, sequence]`: a message that its receiver has not yet processed. `kind` and `id` are
 * those of the receiver.
 */
export const undeliveredSpace = "mail";
/**
 * `[partition, "effect", kind, owner, id]`: an effect whose result its owner has not yet processed. The owner is the
 * actor that started the effect.
 */
export const effectSpace = "effect";
/**
 * `[partition, "begun", kind, owner, id]`: a mark that a pending effect with the same kind, owner and id may have
 * started.
 */
export const startedSpace = "begun";
/**
 * `["~", "timer", dueMs, partition, kind, id, name]` -> when the timer was set, or null: timers in order of due time.
 */
export const timerSpace = "timer";
/**
 * `[partition, "feed", sequence]`: several entries of the change feed in one row. `sequence` is the number of the last
 * entry.
 */
export const feedSpace = "feed";
/**
 * `[partition, "seen", kind, id, messageId]`: ids of messages that an actor has processed;
 * `["~", "seen", expiresMs, partition, kind, id, messageId]`: the same ids in order of expiry.
 */
export const dedupSpace = "seen";
/** `[partition, "dead", id]`: dead letters. */
export const deadLetterSpace = "dead";
/**
 * `["~", "meta", name]`: format and counters of the store itself; `[partition, "meta", "migration"]`: migration
 * progress of a partition.
 */
export const metaSpace = "meta";
