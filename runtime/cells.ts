import { checkKey } from "../storage/key-check.js";
import type { Reading } from "../storage/store.js";
import type { Address } from "./address.js";
import type { Behaviours } from "./behaviour.js";
import { Cell, type CellRecord, cellKey, cellName } from "./cell.js";
import { type EffectRow, type Effects, effectsPrefix } from "./effects.js";
import { Queue } from "./queue.js";

/** Cells looked at in one sweep of memory. */
const SWEEP_SLICE = 4096;

/** The actors in memory, and which of them have something to do. */
export class Cells {
  readonly #cells = new Map<string, Cell>();
  readonly #ready = new Queue<Cell>();
  readonly #reading: Reading;
  readonly #behaviours: Behaviours;
  readonly #effects: Pick<Effects, "mayBePending">;
  readonly #idleCells: number;
  #latest: { readonly to: Address; readonly cell: Cell } | null = null;
  /** While the store is still searched for mail of earlier processes, a cell looks for its own first. */
  mayHaveUndelivered = true;

  /** `reading` reads what is durable: what is not yet, a cell in memory knows. */
  constructor(reading: Reading, behaviours: Behaviours, effects: Pick<Effects, "mayBePending">, idleCells: number) {
    this.#reading = reading;
    this.#behaviours = behaviours;
    this.#effects = effects;
    this.#idleCells = idleCells;
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
   * The cell of an actor, brought into memory when it is not there; `name` is its `cellName`, where that is at hand.
   * Throws when no key can be made of the address.
   */
  activate(to: Address, name?: string): Cell {
    // Who addresses a message asks for the same address again to deliver it.
    if (this.#latest?.to === to) return this.#latest.cell;
    const cell = this.#find(to, name ?? cellName(to));
    this.#latest = { to, cell };
    return cell;
  }

  #find(to: Address, name: string): Cell {
    const known = this.#cells.get(name);
    if (known !== undefined) {
      known.used = true;
      return known;
    }
    const key = cellKey(to);
    checkKey(key);
    const cell = new Cell(to, name, this.#behaviours.of(to));
    this.#load(cell);
    this.#cells.set(name, cell);
    if (this.mayHaveUndelivered) {
      cell.hasUndelivered = true;
      this.enqueue(cell);
    }
    return cell;
  }

  #load(cell: Cell): void {
    const record = this.#reading.get<CellRecord>(cell.key);
    if (record !== undefined) cell.load(record);
    else if (this.#effects.mayBePending(cell.name)) {
      const [row] = this.#reading.range<EffectRow>({ prefix: effectsPrefix(cell.to), limit: 1 });
      if (row?.value.actor !== undefined) cell.loadFrom(String(row.key.at(-1)), row.value.actor);
    }
  }

  /** Lets a cell have its turn. */
  enqueue(cell: Cell): void {
    if (cell.isQueued) return;
    cell.isQueued = true;
    this.#ready.push(cell);
  }

  /** The cell whose turn it is. */
  takeReady(): Cell | undefined {
    const cell = this.#ready.take();
    if (cell !== undefined) cell.isQueued = false;
    return cell;
  }

  /** Forgets those of the cells that have ended; `flushed` is the last durable batch. */
  forgetEnded(cells: readonly Cell[], flushed: number): void {
    this.#latest = null;
    for (const cell of cells) if (cell.batch <= flushed && cell.isBlank) this.#cells.delete(cell.name);
  }

  /** Forgets idle cells beyond the limit, the least recently used first; `flushed` is the last durable batch. */
  sweep(flushed: number): void {
    this.#latest = null;
    let excess = this.#cells.size - this.#idleCells;
    if (excess <= 0) return;
    let looks = SWEEP_SLICE;
    for (const [name, cell] of this.#cells) {
      if (excess <= 0 || looks-- === 0) return;
      this.#cells.delete(name);
      const forgettable = cell.isIdle && cell.batch <= flushed && !cell.used;
      if (forgettable) excess -= 1;
      else this.#cells.set(name, cell);
      cell.used = false;
    }
  }
}
