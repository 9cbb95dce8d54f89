import type { SyntaxNode } from "../../../actors/config-pull-requests/edit/hcl-syntax.js";
import { CommandError } from "../command/exit-codes.js";
import type { Value } from "./value.js";

/** A file of HCL or of variables. */
export interface SourceFile {
  /**
   * The path relative to the folder. For values of variables, the name that messages use for the source of the values.
   */
  readonly path: string;
  readonly text: string;
  /** Whether the file has values of variables, which messages must not quote. */
  readonly isOfValues?: true;
}

/** A place in a file. */
export interface Place {
  readonly file: SourceFile;
  readonly node: Pick<SyntaxNode, "start">;
}

/** A value of a file, with its place. */
export interface Placed {
  readonly value: Value;
  readonly place: Place;
}

/**
 * Thrown if the folder has an error, or something that the commands do not understand. Each line of the message
 * describes one error and names its file.
 */
export class Refused extends CommandError {}

/** Cached offsets of line breaks by file, because a file may have many errors. */
const breaksByFile = new WeakMap<SourceFile, readonly number[]>();

/** Formats a place as `path:line`. */
export function placeText({ file, node }: Place): string {
  const breaks = breaksByFile.get(file) ?? [...file.text.matchAll(/\n/g)].map(({ index }) => index);
  breaksByFile.set(file, breaks);
  let [low, high] = [0, breaks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((breaks[middle] ?? 0) < node.start) low = middle + 1;
    else high = middle;
  }
  return `${file.path}:${low + 1}`;
}

/**
 * Throws {@link Refused} with the place and the message. In a file of variables, uses `unquoted` as the message, which
 * quotes nothing from the file.
 */
export function refuse(place: Place, message: string, unquoted = ONLY_VALUES): never {
  throw new Refused(`${placeText(place)}: ${place.file.isOfValues === true ? unquoted : message}`);
}

const ONLY_VALUES = "only values are understood in a file of variables";

/** Maximum number of errors to report at once. */
const MAX_REPORTED = 20;
/** Maximum number of errors to find. */
const MAX_FOUND = 1_000;

/** Collects errors, so that a person sees several at once. */
export class Faults {
  readonly #messages = new Set<string>();

  /**
   * Runs `work` and returns its result. If `work` throws {@link Refused}, records the errors and returns undefined.
   * After `MAX_FOUND` errors, returns undefined without running `work`.
   */
  try<Result>(work: () => Result): Result | undefined {
    if (this.#messages.size >= MAX_FOUND) return undefined;
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      for (const line of error.message.split("\n")) this.#messages.add(line);
      return undefined;
    }
  }

  /** Throws a {@link CommandError} with the recorded errors, if there are any. */
  end(): void {
    const count = this.#messages.size;
    if (count === 0) return;
    const more = count > MAX_REPORTED ? [`and ${count - MAX_REPORTED} more`] : [];
    throw new CommandError([...[...this.#messages].slice(0, MAX_REPORTED), ...more].join("\n"));
  }
}
