/** A failed check, or a failed test without a failed check. */
export interface Failure {
  /** The names of the enclosing tests, outermost first, then the name of the failed check or test. */
  readonly path: readonly string[];
  /** The diagnostics, without indentation; at most {@link MAX_DIAGNOSTIC_LINES} lines. */
  readonly diagnostics: readonly string[];
}

/** The results in the output of a test file so far. */
export interface TapReport {
  readonly passed: number;
  readonly failed: number;
  /** Number of results marked as skipped or todo. */
  readonly skipped: number;
  /** The first {@link MAX_FAILURES} failures. */
  readonly failures: readonly Failure[];
  /** The path of names to the innermost open test, outermost first; empty for none. */
  readonly unended: readonly string[];
}

export const MAX_DIAGNOSTIC_LINES = 40;
export const MAX_FAILURES = 50;

/** The file, or an open test in it. */
interface Level {
  readonly name: string;
  results: number;
  failed: boolean;
}

/**
 * Parses the output of one test file: TAP version 14 as tap writes it. A test's inner results come before the result of
 * the test, and are indented by four columns. Counts only innermost results. Ignores lines that are not TAP, because
 * tests may print text.
 */
export class TapReading {
  /** The file, then the open tests, outermost first. */
  readonly #levels: Level[] = [newLevel("")];
  readonly #failures: Failure[] = [];
  #passed = 0;
  #failed = 0;
  #skipped = 0;
  /** The indentation of the current diagnostics; null outside of them. */
  #diagnosticsColumn: number | null = null;
  /** The diagnostics of the last result. */
  #diagnostics: string[] = [];

  /** Parses the next line, without its line break. */
  take(line: string): void {
    if (this.#diagnosticsColumn !== null) this.#takeDiagnostic(this.#diagnosticsColumn, line);
    else if (/^ +---$/.test(line)) this.#diagnosticsColumn = line.length - 3;
    else this.#takeStatement(line);
  }

  report(): TapReport {
    const [, ...open] = this.#levels;
    return {
      passed: this.#passed,
      failed: this.#failed,
      skipped: this.#skipped,
      failures: this.#failures,
      unended: open.map(({ name }) => name),
    };
  }

  #takeDiagnostic(column: number, line: string): void {
    if (line === `${" ".repeat(column)}...`) this.#diagnosticsColumn = null;
    else if (this.#diagnostics.length < MAX_DIAGNOSTIC_LINES) this.#diagnostics.push(line.slice(column));
  }

  #takeStatement(line: string): void {
    const depth = Math.floor(line.search(/\S|$/) / 4);
    const statement = line.slice(depth * 4);
    const begun = /^# Subtest: (.*)$/.exec(statement)?.[1];
    const result = /^(?<not>not )?ok\b(?: \d+)?(?: - )?(?<name>.*)$/.exec(statement)?.groups;
    if (begun !== undefined) this.#begin(depth, begun);
    else if (result !== undefined) this.#takeResult(depth, { ok: result.not === undefined, name: result.name ?? "" });
    else if (statement.startsWith("Bail out!")) this.#fail(statement);
  }

  #begin(depth: number, name: string): void {
    this.#levels.length = Math.min(this.#levels.length, depth + 1);
    this.#levels.push(newLevel(name));
  }

  #takeResult(depth: number, { ok, name }: { readonly ok: boolean; readonly name: string }): void {
    const level = this.#levels[depth];
    if (level === undefined) return;
    const test = this.#levels[depth + 1];
    this.#levels.length = depth + 1;
    level.results += 1;
    this.#diagnostics = [];
    if (/(?<!\\)# (skip|todo)\b/i.test(name)) this.#skipped += 1;
    else if (!ok) {
      level.failed = true;
      if (test?.failed !== true) this.#fail(name.replace(/ # time=[\d.]+ms$/, ""));
    } else if (test === undefined || test.results === 0) this.#passed += 1;
  }

  #fail(name: string): void {
    this.#failed += 1;
    const path = [...this.#levels.slice(1).map((level) => level.name), name];
    if (this.#failures.length < MAX_FAILURES) this.#failures.push({ path, diagnostics: this.#diagnostics });
  }
}

function newLevel(name: string): Level {
  return { name, results: 0, failed: false };
}
