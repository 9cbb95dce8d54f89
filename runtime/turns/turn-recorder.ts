import { checkValue } from "../../storage/change-check.js";
import { checkKey } from "../../storage/key-check.js";
import { compareKeys } from "../../storage/key-order.js";
import { rowSpace } from "../../storage/keys.js";
import { type Entry, isDamage, type Key, type Range } from "../../storage/store.js";
import type { Address } from "../cells/address.js";
import { freeze } from "../cells/freeze.js";
import { type DirectoryEntry, directoryKey } from "../directories/directory.js";
import type { ChangeEntry, Topic } from "../feeds/topic.js";
import { type CoveringReading, coveredVersion, covers } from "../rows/covered-reading.js";
import type { RowView } from "../rows/row-view.js";
import type { RowViews } from "../rows/row-views.js";
import type { Identities } from "./ids.js";
import { keyName } from "./overlay.js";
import type { UndoableWriting } from "./overlays.js";
import type { EffectRequest, Fact, GateQuestion, Message, Report, Turn } from "./turn.js";

/** One intent of a turn. Rows, the reply and the end of the actor are not intents. */
export type Intent =
  | { readonly kind: "send"; readonly to: Address; readonly message: Message; readonly isFirst: boolean }
  | { readonly kind: "wake"; readonly name: string; readonly dueMs: number }
  | { readonly kind: "cancel-wake"; readonly name: string }
  | { readonly kind: "start"; readonly effect: EffectRequest }
  | { readonly kind: "cancel-effect"; readonly id: string }
  | { readonly kind: "publish"; readonly fact: Fact }
  | { readonly kind: "ask"; readonly question: GateQuestion }
  | { readonly kind: "count"; readonly counter: string }
  | { readonly kind: "report"; readonly report: Report }
  | { readonly kind: "change"; readonly topic: string; readonly data: unknown; readonly row?: Key };

export interface TurnRecorderOptions {
  /** Whether to deeply freeze the rows, messages and answers of a turn. */
  readonly freezes: boolean;
  /** Called with the error of an `attempt` that read a damaged row. */
  readonly damageMet: (error: unknown) => void;
}

const NOWHERE: Address = { partition: "", kind: "", id: "" };

/**
 * Records the intents of one turn after another. Row writes go directly to the `writing` of the turn. The owner of
 * `writing` keeps or discards them.
 *
 * 1. Every call outside `begin` and `end` throws, so code that uses a turn after its step cannot do harm.
 * 2. Rows are read and written only in the partition of `self`, and written only in the row space. Directory entries
 *   are in the global partition; they are declared with {@link direct}.
 */
export class TurnRecorder implements Turn, CoveringReading {
  now = 0;
  self: Address = NOWHERE;
  readonly intents: Intent[] = [];
  replied = false;
  answer: unknown = undefined;
  stopped = false;
  /** Whether the turn wrote or removed a row or a directory entry. */
  wrote = false;
  /** Keys of written rows that row views may be built from. */
  readonly watched: Key[] = [];
  /** The rows whose changes the turn published, by key, in their state before the first of these changes. */
  #firstRows = new Map<string, unknown>();
  #writing: UndoableWriting | null = null;
  readonly #identities: Identities;
  readonly #rowViews: RowViews;
  readonly #options: TurnRecorderOptions;
  readonly #freezes: boolean;

  constructor(identities: Identities, rowViews: RowViews, options: TurnRecorderOptions) {
    this.#identities = identities;
    this.#rowViews = rowViews;
    this.#options = options;
    this.#freezes = options.freezes;
  }

  /** Starts a turn of `self` on `writing`. */
  begin(self: Address, now: number, writing: UndoableWriting): void {
    this.self = self;
    this.now = now;
    this.#writing = writing;
    this.intents.length = 0;
    this.replied = false;
    this.answer = undefined;
    this.stopped = false;
    this.wrote = false;
    this.watched.length = 0;
    // Replace the map instead of clearing it. After `clear`, the map's old table would refer to the new table, and keep
    // it in memory.
    if (this.#firstRows.size > 0) this.#firstRows = new Map();
  }

  /** Ends the turn. The recorded intents stay readable until the next `begin`. */
  end(): void {
    this.#writing = null;
  }

  get<Value = unknown>(key: Key): Value | undefined {
    const writing = this.#open();
    if (key[0] !== this.self.partition) this.#refuseForeign(key, "reads");
    return writing.get<Value>(key);
  }

  range<Value = unknown>(range: Range): Entry<Value>[] {
    const writing = this.#open();
    if (range.prefix[0] !== this.self.partition) this.#refuseForeign(range.prefix, "reads");
    return writing.range<Value>(range);
  }

  covers(key: Key): boolean {
    return covers(this.#open(), key);
  }

  coveredVersion(partition: string): number | null {
    const writing = this.#open();
    return partition === this.self.partition ? coveredVersion(writing, partition) : null;
  }

  put(key: Key, value: unknown): void {
    const writing = this.#open();
    this.#checkOwn(key);
    checkKey(key);
    checkValue(value);
    this.#noteWritten(key);
    if (this.#freezes) freeze(value);
    writing.put(key, value);
  }

  remove(key: Key): void {
    const writing = this.#open();
    this.#checkOwn(key);
    checkKey(key);
    this.#noteWritten(key);
    writing.remove(key);
  }

  direct(entry: DirectoryEntry): void {
    const writing = this.#open();
    const key = directoryKey(entry);
    checkKey(key);
    checkValue(entry.row);
    this.wrote = true;
    if (this.#freezes) freeze(entry.row);
    writing.put(key, entry.row);
  }

  undirect(entry: DirectoryEntry): void {
    const writing = this.#open();
    const key = directoryKey(entry);
    checkKey(key);
    this.wrote = true;
    writing.remove(key);
  }

  attempt(work: () => void): boolean {
    const writing = this.#open();
    const { writes } = writing;
    const intents = [...this.intents];
    const watched = this.watched.length;
    try {
      work();
      return true;
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#options.damageMet(error);
      writing.undoTo(writes);
      this.intents.splice(0, this.intents.length, ...intents);
      this.watched.length = watched;
      // `work` may have changed the cached view before it failed. Drop the view, so that its next use rebuilds it from
      // the rows.
      this.#rowViews.drop(this.self);
      return false;
    }
  }

  rowView<View>(rowView: RowView<View>): View {
    return this.#rowViews.get(rowView, this.self, this.#open());
  }

  newId(prefix: string): string {
    this.#open();
    return this.#identities.newId(prefix);
  }

  random(): number {
    this.#open();
    return this.#identities.random();
  }

  randomBytes(count: number): Uint8Array {
    this.#open();
    return this.#identities.bytes(count);
  }

  send(to: Address, message: Message): void {
    this.#record({ kind: "send", to, message, isFirst: false });
  }

  sendFirst(to: Address, message: Message): void {
    this.#record({ kind: "send", to, message, isFirst: true });
  }

  wake(name: string, dueMs: number): void {
    if (!Number.isFinite(dueMs)) throw new RangeError(`the wake-up ${name} is set for ${dueMs}`);
    this.#record({ kind: "wake", name, dueMs: Math.max(0, Math.ceil(dueMs)) });
  }

  cancelWake(name: string): void {
    this.#record({ kind: "cancel-wake", name });
  }

  start(effect: EffectRequest): void {
    this.#record({ kind: "start", effect });
  }

  cancelEffect(id: string): void {
    this.#record({ kind: "cancel-effect", id });
  }

  publish(fact: Fact): void {
    this.#record({ kind: "publish", fact });
  }

  askGate(question: GateQuestion): void {
    this.#record({ kind: "ask", question });
  }

  publishChange<Data>({ name }: Topic<Data>, data: NoInfer<Data>): void {
    this.#record({ kind: "change", topic: name, data });
  }

  publishRow<Row>(key: Key, before: Row | null, entriesSince: (first: Row | null) => readonly ChangeEntry[]): void {
    const name = keyName(key);
    if (!this.#firstRows.has(name)) this.#firstRows.set(name, before);
    const entries = entriesSince(this.#firstRows.get(name) as Row | null);
    if (entries.length === 0) return;
    const { intents } = this;
    for (let index = intents.length - 1; index >= 0; index--) {
      const intent = intents[index];
      if (intent?.kind === "change" && intent.row !== undefined && compareKeys(intent.row, key) === 0) {
        intents.splice(index, 1);
      }
    }
    for (const { topic, data } of entries) this.#record({ kind: "change", topic, data, row: key });
  }

  count(counter: string): void {
    this.#record({ kind: "count", counter });
  }

  report(report: Report): void {
    this.#record({ kind: "report", report });
  }

  reply(answer: unknown): void {
    this.#open();
    if (this.replied) throw new Error("a turn replies once");
    if (this.#freezes) freeze(answer);
    this.replied = true;
    this.answer = answer;
  }

  stop(): void {
    this.#open();
    this.stopped = true;
  }

  #noteWritten(key: Key): void {
    this.wrote = true;
    if (this.#rowViews.watches(key)) this.watched.push(key);
  }

  #record(intent: Intent): void {
    this.#open();
    if (this.#freezes) freeze(intent);
    this.intents.push(intent);
  }

  #open(): UndoableWriting {
    if (this.#writing === null) throw new Error("the turn is over");
    return this.#writing;
  }

  #checkOwn(key: Key): void {
    const [partition, space] = key;
    if (partition !== this.self.partition) this.#refuseForeign(key, "writes");
    if (space !== rowSpace) throw new Error(`a turn writes rows, not the space ${space}`);
  }

  #refuseForeign([partition]: Key, what: "reads" | "writes"): never {
    throw new Error(`a turn in partition ${this.self.partition} ${what} a row of partition ${partition}`);
  }
}
