/**
 * The only list of key spaces. Every key is `[partition, space, ...]`. A partition is the unit that can live on
 * another node; what leads to one from elsewhere, and what is claimed over all, stands under {@link GLOBAL_PARTITION}.
 */

/** The partition of directories (`runtime/directory.ts`) and of the service's own actors. */
export const GLOBAL_PARTITION = "~";

/** `[partition, "row", table, ...id]`: rows of the domain. */
export const rowSpace = "row";
/** `[partition, "actor", kind, id]`: an actor's snapshot. */
export const actorSpace = "actor";
/** `[partition, "mail", kind, id, sequence]`: a message not yet delivered at its commit, under its receiver. */
export const undeliveredSpace = "mail";
/** `[partition, "effect", kind, owner, id]`: an effect whose result has not come back, under the actor that started it. */
export const effectSpace = "effect";
/** `["~", "timer", dueMs, partition, kind, id, name]`: wake-ups by due time. */
export const timerSpace = "timer";
/** `[partition, "feed", sequence]`: entries of the change feed, under the number of the last one in the row. */
export const feedSpace = "feed";
/**
 * `[partition, "seen", kind, id, messageId]`: messages delivered once already;
 * `["~", "seen", expiresMs, partition, kind, id, messageId]`: when such a row may go.
 */
export const dedupSpace = "seen";
/** `[partition, "dead", id]`: dead letters. */
export const deadLetterSpace = "dead";
/**
 * `["~", "meta", name]`: format and counters of the store itself; `[partition, "meta", "migration"]`: how far the
 * migration of a partition came.
 */
export const metaSpace = "meta";
