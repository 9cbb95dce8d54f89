import { checkKey } from "../../storage/key-check.js";
import { actorSpace } from "../../storage/keys.js";
import { type Change, isDamage, type Reading } from "../../storage/store.js";
import type { Effects } from "../effects/effects.js";
import { type EffectRow, effectsPrefix } from "../effects/pending-effect.js";
import type { Origin, RowMemory } from "../rows/row-memory.js";
import type { RowViews } from "../rows/row-views.js";
import { RoundRobin } from "../schedule/round-robin.js";
import { TurnoverMap } from "../schedule/turnover-map.js";
import { type Address, address, addressText } from "./address.js";
import type { Behaviours } from "./behaviour.js";
import { Cell } from "./cell.js";
import { type CellRecord, cellKey, cellName } from "./cell-record.js";

/** Maximum number of cells examined in one sweep. */
const SWEEP_SLICE = 4096;

/** The dependencies of {@link Cells}. */
export interface CellsParts {
  /**
   * Reads durable state. An actor with unflushed state always has a cell in memory, so its state is never read from
   * here.
   */
  readonly reading: Reading;
  readonly behaviours: Behaviours;
  readonly effects: Pick<Effects, "mayBePending">;
  readonly rowViews: Pick<RowViews, "drop">;
  /** Maximum number of cells in memory before idle cells are dropped. */
  readonly idleCells: number;
  /**
   * Whether the store is read even for actors that are declared new (`Turn.sendFirst`). A record of such an actor can
   * only be there because of a bug, so it makes the read throw.
   */
  readonly checksNew: boolean;
}

/** The actors in memory, and the queue of actors that have messages. */
export class Cells implements RowMemory {
  readonly #cells = new TurnoverMap<string, Cell>();
  readonly #ready = new RoundRobin<Cell>();
  readonly #parts: CellsParts;
  /** Number of the last durable batch. */
  #flushed = 0;
  #latest: { readonly to: Address; readonly cell: Cell } | null = null;
  /**
   * True while recovery still searches the store for undelivered messages. Each new cell must then look for its own
   * undelivered messages first.
   */
  mayHaveUndelivered = true;

  constructor(parts: CellsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#cells.size;
  }

  get ready(): number {
    return this.#ready.length;
  }

  all(): IterableIterator<Cell> {
    return this.#cells.values();
  }

  /**
   * Returns the cell of an actor, and loads it into memory if needed. Pass `name`, its `cellName`, if you already have
   * it. Throws if the address is not a valid key.
   */
  activate(to: Address, name?: string): Cell {
    // The router and then the delivery activate the same address object. Save the second lookup.
    if (this.#latest?.to === to) return this.#latest.cell;
    const cell = this.#find(to, name ?? cellName(to));
    this.#latest = { to, cell };
    return cell;
  }

  /**
   * Creates the cell of an actor that never received a message, without reading the store. Otherwise like
   * {@link activate}.
   */
  begin(to: Address): void {
    this.#latest = { to, cell: this.#find(to, cellName(to), true) };
  }

  #find(to: Address, name: string, isNew = false): Cell {
    const known = this.#cells.get(name);
    if (known !== undefined) {
      known.used = true;
      return known;
    }
    const key = cellKey(to);
    checkKey(key);
    const cell = new Cell(to, name, this.#parts.behaviours.find(to));
    if (!isNew) this.#loadOrDamage(cell);
    else if (this.#parts.checksNew) this.#checkNew(cell);
    this.#cells.set(name, cell);
    if (this.mayHaveUndelivered) {
      cell.hasUndelivered = true;
      this.enqueue(cell);
    }
    return cell;
  }

  /** Loads the cell's record. If the record is damaged, the cell takes no turns. */
  #loadOrDamage(cell: Cell): void {
    try {
      this.#load(cell);
    } catch (error) {
      if (!isDamage(error)) throw error;
      cell.damage = error;
    }
  }

  #checkNew(cell: Cell): void {
    this.#load(cell);
    if (!cell.isBlank) throw new Error(`${addressText(cell.to)} is stored, and got its first message again`);
  }

  #load(cell: Cell): void {
    const { reading, effects } = this.#parts;
    const record = reading.get<CellRecord>(cell.key);
    if (record !== undefined) cell.load(record);
    else if (effects.mayBePending(cell.name)) {
      const [row] = reading.range<EffectRow>({ prefix: effectsPrefix(cell.to), limit: 1 });
      if (row?.value.actor !== undefined) cell.loadFrom(String(row.key.at(-1)), row.value.actor);
    }
  }

  /** Adds a cell to its workspace's ready queue, unless it is already there. */
  enqueue(cell: Cell): void {
    if (cell.isQueued) return;
    cell.isQueued = true;
    this.#ready.push(cell.to.partition, cell);
  }

  /**
   * Removes and returns the next ready cell; undefined if there is none. Workspaces take turns. Within a workspace, the
   * cell that was ready first is next.
   */
  takeReady(): Cell | undefined {
    const cell = this.#ready.take();
    if (cell !== undefined) cell.isQueued = false;
    return cell;
  }

  /** Drops the given cells whose actors have stopped. `flushed` is the number of the last durable batch. */
  forgetEnded(cells: readonly Cell[], flushed: number): void {
    this.#latest = null;
    this.#flushed = flushed;
    for (const cell of cells) if (cell.batch <= flushed && cell.isBlank) this.#forget(cell);
  }

  /**
   * Drops idle cells beyond the limit that were not used since a sweep last examined them. Examines at most {@link
   * SWEEP_SLICE} cells.
   */
  sweep(): void {
    this.#latest = null;
    let excess = this.#cells.size - this.#parts.idleCells;
    if (excess <= 0) return;
    let left = SWEEP_SLICE;
    for (const [name, cell] of this.#cells) {
      if (excess <= 0 || left-- === 0) return;
      const { used } = cell;
      cell.used = false;
      if (!used && this.#isForgettable(cell)) {
        this.#forget(cell);
        excess -= 1;
      } else {
        this.#cells.delete(name);
        this.#cells.set(name, cell);
      }
    }
  }

  /**
   * Drops idle actors whose records another node has written. Throws if such an actor is active here, because an actor
   * has one writer.
   */
  applied(changes: readonly Change[], origin: Origin): void {
    if (origin === "here") return;
    this.#latest = null;
    for (const { key } of changes) {
      if (key[1] !== actorSpace) continue;
      const of = address(String(key[0]), String(key[2]), String(key[3]));
      const cell = this.#cells.get(cellName(of));
      if (cell === undefined) continue;
      if (!this.#isForgettable(cell)) throw new Error(`${addressText(of)} runs here and was written elsewhere`);
      this.#forget(cell);
    }
  }

  #isForgettable(cell: Cell): boolean {
    return cell.isIdle && cell.batch <= this.#flushed;
  }

  #forget(cell: Cell): void {
    this.#cells.delete(cell.name);
    this.#parts.rowViews.drop(cell.to);
  }
}
