import { actorSpace, deadLetterSpace, effectSpace, undeliveredSpace } from "../../storage/keys.js";
import type { WalkOptions } from "../../storage/migration-walks.js";
import type { Slice, Walk } from "../../storage/migrations.js";
import type { Change } from "../../storage/store.js";
import type { EffectRow } from "../effects/pending-effect.js";
import type { DeadLetterRow } from "../messages/dead-letters.js";
import type { UndeliveredRow } from "../messages/undelivered.js";
import type { Message } from "../turns/turn.js";
import type { StoredState } from "./actor-type.js";
import type { CellRecord } from "./cell-record.js";

/**
 * Building blocks for migration steps that change the runtime's stored data about actors. Each `rewrite` must be pure,
 * return its argument if nothing changes, and accept its own results.
 */

/** The actor that a stored row belongs to. */
export interface ActorLocation {
  readonly partition: string;
  readonly id: string;
}

/** Rewrites the stored states of all actors of a kind, including those in effect rows (see `Cell`). */
export function rewriteStates(
  kind: string,
  rewrite: (state: StoredState, of: ActorLocation) => StoredState,
  options: WalkOptions = {},
): Walk[] {
  const rewritten = (record: CellRecord | undefined, place: ActorLocation): CellRecord | undefined => {
    if (record?.state === undefined) return record;
    const state = rewrite(record.state, place);
    return state === record.state ? record : { ...record, state };
  };
  return [
    walk<CellRecord>([actorSpace, kind], options, (record, place) => rewritten(record, place) ?? record),
    walk<EffectRow>([effectSpace, kind], options, (row, place) => {
      const actor = rewritten(row.actor, place);
      return actor === row.actor || actor === undefined ? row : { ...row, actor };
    }),
  ];
}

/** Rewrites the undelivered messages and the dead letters of all actors of a kind. */
export function rewriteMessages(
  kind: string,
  rewrite: (message: Message, to: ActorLocation) => Message,
  options: WalkOptions = {},
): Walk[] {
  return [
    walk<UndeliveredRow>([undeliveredSpace, kind], options, (row, to) => withMessage(row, rewrite(row.message, to))),
    walk<DeadLetterRow>([deadLetterSpace], options, (row, { partition }) =>
      row.kind === kind ? withMessage(row, rewrite(row.message, { partition, id: row.actor })) : row,
    ),
  ];
}

/** Rewrites the inputs of pending effects with one name, for all actors of a kind. */
export function rewriteInputs(
  { kind, effect }: { readonly kind: string; readonly effect: string },
  rewrite: (input: unknown, owner: ActorLocation) => unknown,
  options: WalkOptions = {},
): Walk {
  return walk<EffectRow>([effectSpace, kind], options, (row, owner) => {
    const input = row.name === effect ? rewrite(row.input, owner) : row.input;
    return input === row.input ? row : { ...row, input };
  });
}

function withMessage<Row extends { readonly message: Message }>(row: Row, message: Message): Row {
  return message === row.message ? row : { ...row, message };
}

/** Creates the walk over one space. In every key with an actor's id, the id follows the actor's kind. */
function walk<Row>(
  under: readonly string[],
  options: WalkOptions,
  rewrite: (row: Row, place: ActorLocation) => Row,
): Walk {
  const changes = ({ partition, entries }: Slice) =>
    entries.flatMap(({ key, value }): Change[] => {
      const after = rewrite(value as Row, { partition, id: String(key[3] ?? "") });
      return after === value ? [] : [{ op: "put", key, value: after }];
    });
  return { ...options, under, changes };
}
