import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";

/** The answers of an unusual `git`: its version, and the exit code with which `merge-tree --write-tree` fails. */
export interface OddGit {
  readonly version: string;
  readonly merging: number;
}

/**
 * Puts a `git` with these answers first on PATH. For all other commands, this `git` runs the machine's git. The
 * returned function restores PATH, and so does the end of the test.
 */
export function putGitFirst(t: Test, folder: string, { version, merging }: OddGit): () => void {
  const path = process.env.PATH ?? "";
  const bin = mkdtempSync(join(folder, "bin-"));
  const cases = [
    `*" --version "*) echo "git version ${version}" ;;`,
    `*" merge-tree --write-tree "*) echo "usage: git merge-tree" >&2; exit ${merging} ;;`,
    `*) PATH='${path}' exec git "$@" ;;`,
  ];
  writeFileSync(join(bin, "git"), `#!/bin/sh\ncase " $* " in\n${cases.join("\n")}\nesac\n`);
  chmodSync(join(bin, "git"), 0o755);
  process.env.PATH = `${bin}:${path}`;
  const restore = () => {
    process.env.PATH = path;
  };
  t.teardown(restore);
  return restore;
}
