import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { CommandError } from "../command/exit-codes.js";
import { askGit } from "../command/git.js";
import { DEV_FOLDER } from "../command/places.js";
import { readPrivateFile, writePrivateFile } from "../command/private-file.js";
import type { DevPlaces } from "./dev-folder.js";

/*
 * A cloned or copied repository can contain a folder `.signalbox`. A store in it has tasks that would start programs
 * here, and a link in it can lead anywhere. So `signalbox dev` uses only a folder that it has made itself, for this
 * checkout on this machine.
 */

const markSchema = z.object({
  /** The path of the checkout, for a person who reads the file. */
  top: z.string(),
  mark: z.string(),
});

/**
 * Throws a {@link CommandError} in these cases:
 *
 * - Git tracks something in `.signalbox`.
 * - One of the {@link DevPlaces} in `.signalbox` exists, but is not the file or folder that `signalbox dev` expects.
 * - The data folder contains a symbolic link.
 *
 * Follows no links.
 */
export function refuseBrought(places: DevPlaces, top: string): void {
  // `--icase-pathspecs` ignores case, as some file systems do. Git fails if the environment forbids this option.
  const tracked = askGit(top, "--icase-pathspecs", "ls-files", "-z", "--", DEV_FOLDER);
  if (tracked !== "") {
    throw new CommandError(
      `git tracks files in ${DEV_FOLDER}, which signalbox dev keeps for itself and never takes from a repository: ` +
        `remove them with git rm -r ${DEV_FOLDER}, then run signalbox dev again`,
    );
  }
  const { folder, data, repositories } = places;
  for (const path of [folder, data, repositories]) assertKind(path, "folder");
  for (const path of listFiles(places)) assertKind(path, "file");
  if (!exists(data)) return;
  const inside = readdirSync(data, { recursive: true, withFileTypes: true });
  for (const { name, parentPath } of inside.filter((entry) => entry.isSymbolicLink())) {
    assertKind(join(parentPath, name), "file");
  }
}

/**
 * Marks the folder as made for this checkout on this machine, unless it has that mark already. Throws a {@link
 * CommandError} if the folder has data of `signalbox dev` without that mark.
 */
export function claim(places: DevPlaces, top: string): void {
  const { folder, data, repositories, mark, ownMark } = places;
  const own = readPrivateFile(ownMark, markSchema);
  if (own !== null && exists(mark) && readFileSync(mark, "utf8") === own.mark) return;
  if ([data, repositories, ...listFiles(places)].some(exists)) {
    throw new CommandError(
      `signalbox dev did not make ${folder} for this folder on this machine: the repository was copied or moved, or it ` +
        "came with this folder. Run signalbox dev --reset to delete the tasks, runs and settings in it, and start again",
    );
  }
  const made = randomBytes(32).toString("base64url");
  writePrivateFile(ownMark, { top, mark: made });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(mark, made, { mode: 0o600, flag: "wx" });
}

function listFiles({ log, state, mark }: DevPlaces): readonly string[] {
  return [log, `${log}.1`, state, mark];
}

/** Throws a {@link CommandError} if the path exists but is not of the wanted kind. */
function assertKind(path: string, wanted: "file" | "folder"): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || (wanted === "file" ? stat.isFile() : stat.isDirectory())) return;
  const what = stat.isSymbolicLink() ? "a symbolic link, which signalbox dev does not follow" : `not a ${wanted}`;
  throw new CommandError(`${path} is ${what}: delete it, then run signalbox dev again`);
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
