import { TapReading, type TapReport } from "./tap-reading.js";

/** Marks the start or end of a file in the output of a process that runs several files. */
export interface Mark {
  /** A random word, so that no file writes a mark by accident. */
  readonly word: string;
  readonly what: "begins" | "ends";
  /** Index of the file, from 0. */
  readonly index: number;
}

export function toMark({ word, what, index }: Mark): string {
  return `${word} ${what} ${index}`;
}

/** The output of one file. */
export interface FileReport {
  readonly index: number;
  readonly tap: TapReport;
  /** Whether the end of the file is marked; false if the file was interrupted. */
  readonly isComplete: boolean;
}

/**
 * Reads the output of a process that runs several files. Output after the start mark of a file belongs to this file,
 * until the start mark of the next file.
 */
export class SharedReading {
  readonly #word: string;
  readonly #mark: RegExp;
  #index: number | null = null;
  #reading = new TapReading();
  #hasEnded = false;
  #isCut = false;

  constructor(word: string) {
    this.#word = word;
    this.#mark = new RegExp(`# .*${word} (begins|ends) (\\d+)$`);
  }

  /** The file that started last, with its output so far; null if no file has started. */
  get current(): FileReport | null {
    if (this.#index === null) return null;
    return { index: this.#index, tap: this.#reading.report(), isComplete: this.#hasEnded };
  }

  /** Notes that the process is being stopped: all further output belongs to the current file. */
  cut(): void {
    this.#isCut = true;
  }

  /**
   * Reads the next line, without its line break. If the line marks the start of a file, returns the report of the
   * previous file. Otherwise returns null.
   */
  take(line: string): FileReport | null {
    const mark = this.#mark.exec(line);
    if (!line.includes(this.#word)) this.#reading.take(line);
    else if (mark === null || this.#isCut) return null;
    else if (mark[1] === "ends") this.#end(Number(mark[2]));
    else return this.#begin(Number(mark[2]));
    return null;
  }

  #begin(index: number): FileReport | null {
    const before = this.current;
    this.#index = index;
    this.#reading = new TapReading();
    this.#hasEnded = false;
    return before;
  }

  #end(index: number): void {
    this.#hasEnded = index === this.#index && this.#reading.report().unended.length === 0;
  }
}
