import { lstatSync, mkdirSync, readlinkSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { assertNotServed } from "../../process/open-store.js";
import { CommandError } from "../command/exit-codes.js";
import { cacheFolder, DEV_FOLDER, DEV_LOGIN, DEV_MARK, toOwnDevFolder, toPathHash } from "../command/places.js";
import { readPrivateFile, writePrivateFile } from "../command/private-file.js";
import type { Terminal } from "../command/terminal.js";

/** The files and folders of `signalbox dev` for a checkout. */
export interface DevPlaces {
  /**
   * The folder in the checkout that contains all of these places except {@link own}, {@link ownMark}, {@link login} and
   * {@link runner}.
   */
  readonly folder: string;
  /** The data folder of the service. */
  readonly data: string;
  readonly log: string;
  /** The file with the checkout's mark. {@link ownMark} must have the same mark; see `claim.ts`. */
  readonly mark: string;
  /**
   * The person's own folder for this checkout. It is outside the checkout, because a cloned repository can contain any
   * files.
   */
  readonly own: string;
  readonly ownMark: string;
  /** The file with the sign-in of the commands. */
  readonly login: string;
  readonly state: string;
  /** A folder with a link to the checkout, at the repository's `<owner>/<name>`. */
  readonly repositories: string;
  /**
   * The runner's folder. It is outside the checkout. Otherwise the agents' tools would find the checkout's
   * configuration in a parent folder, and the person's tools would find the agents' files.
   */
  readonly runner: string;
}

export function toPlaces(terminal: Pick<Terminal, "env">, top: string): DevPlaces {
  const folder = join(top, DEV_FOLDER);
  const path = realpathSync.native(top);
  const own = toOwnDevFolder(terminal, path);
  return {
    folder,
    data: join(folder, "data"),
    log: join(folder, "dev.log"),
    mark: join(folder, "mark"),
    own,
    ownMark: join(own, DEV_MARK),
    login: join(own, DEV_LOGIN),
    state: join(folder, "dev.json"),
    repositories: join(folder, "repositories"),
    runner: join(cacheFolder(terminal), "dev", toPathHash(path)),
  };
}

const stateSchema = z.object({
  /** The email address of the local person's account. */
  email: z.string(),
  /** The repository's name in lines. */
  repository: z.string(),
  /** The token with which the runner joins its pool. */
  poolToken: z.string(),
  /** The last port of the service. */
  port: z.number().nullable(),
  /** The last program that the person gave as the agent, with its arguments. */
  agent: z.array(z.string()).optional(),
});

/** The data about a checkout that `signalbox dev` stores between two starts. */
export type DevState = z.output<typeof stateSchema>;

/** Returns the data that the last start stored; null before the first start. */
export function readState({ state }: DevPlaces): DevState | null {
  return readPrivateFile(state, stateSchema);
}

/** Returns the last port of the service, which a reset keeps; null if there is none, or if the state is not valid. */
export function readLastPort(places: DevPlaces): number | null {
  try {
    return readState(places)?.port ?? null;
  } catch (error) {
    if (error instanceof CommandError) return null;
    throw error;
  }
}

export function saveState({ state }: DevPlaces, value: DevState): void {
  writePrivateFile(state, value);
}

/**
 * Creates a link to the checkout, named after the repository. Returns the file URL of all linked repositories, in which
 * `{name}` represents `<owner>/<name>`.
 */
export function linkRepository({ repositories }: DevPlaces, name: string, top: string): string {
  const link = join(repositories, name);
  mkdirSync(dirname(link), { recursive: true, mode: 0o700 });
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() !== true || readlinkSync(link) !== top) {
    rmSync(link, { force: true });
    symlinkSync(top, link);
  }
  return `${pathToFileURL(repositories).href}/{name}`;
}

/**
 * Removes everything that `signalbox dev` has made for the checkout, and nothing else in its folder. Rejects with a
 * `StoreError` while the service runs.
 */
export async function removeAll(places: DevPlaces): Promise<void> {
  const { data, log, mark, state, repositories, own, runner } = places;
  await assertNotServed(data);
  const made = [data, log, `${log}.1`, state, repositories, own, runner, mark];
  for (const path of made) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}
