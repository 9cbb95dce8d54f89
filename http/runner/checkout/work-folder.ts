import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { killGroup } from "../process/process-group.js";
import { aliveByNote, endMarked, toNote } from "../process/process-marks.js";
import { PROCESSES, PUSH_SITES, removeAll } from "./run-folder.js";

const OWNER = "runner.pid";

/** Another runner uses the folder. The message tells the operator what to do. */
export class FolderTaken extends Error {
  override readonly name = "FolderTaken";
  readonly pid: number;
  readonly folder: string;

  constructor(pid: number, folder: string) {
    super(`the runner with process id ${pid} uses ${folder}: give this runner another --work-folder`);
    this.pid = pid;
    this.folder = folder;
  }
}

/**
 * Locks the folder for this process: two runners in one folder would kill each other's agents. Returns a function that
 * releases the lock. Rejects with {@link FolderTaken}.
 */
export async function takeFolder(workFolder: string): Promise<() => Promise<void>> {
  await mkdir(workFolder, { recursive: true, mode: 0o700 });
  const owner = join(workFolder, OWNER);
  for (;;) {
    try {
      await writeFile(owner, toNote(process.pid), { flag: "wx" });
      return () => rm(owner, { force: true });
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error) || error.code !== "EEXIST") throw error;
    }
    const alive = aliveByNote(await readFile(owner, "utf8").catch(() => ""));
    if (alive !== null) throw new FolderTaken(alive, workFolder);
    await rm(owner, { force: true });
  }
}

/**
 * Ends the processes of a killed runner, and removes its run folders, push sites and partial packs. Returns the number
 * of run folders.
 */
export async function clearLeftovers(workFolder: string): Promise<number> {
  const runs = join(workFolder, "runs");
  const left = await readdir(runs).catch(() => []);
  for (const name of left) {
    const notes = await readFile(join(runs, name, PROCESSES), "utf8").catch(() => "");
    for (const note of notes.split("\n")) {
      const pid = aliveByNote(note);
      if (pid !== null) killGroup(pid, "SIGKILL");
    }
  }
  await endMarked(`${workFolder}/`);
  for (const name of left) await removeAll(join(runs, name));
  await removeAll(join(workFolder, PUSH_SITES));
  const packs = join(workFolder, "archives");
  const half = (await readdir(packs).catch(() => [])).filter((name) => /\.(part|sending)$/.test(name));
  for (const name of half) await removeAll(join(packs, name));
  return left.length;
}
