import { execFile } from "node:child_process";
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { promisify } from "node:util";
import type { Job } from "../../../actors/runners/job.js";
import { isIsolated } from "../process/isolated-run.js";
import type { ProcessGroup } from "../process/process-group.js";
import { toNote } from "../process/process-marks.js";

/** The file that lists the processes of a run, one per line. */
export const PROCESSES = "processes";

/** The folder for push sites, within the work folder. */
export const PUSH_SITES = "pushes";

/** The agent's identity for commits, which never leave the clone. */
const GIT_CONFIG = "[user]\n\tname = Signalbox agent\n\temail = agent@localhost\n";
/** Disables the credential helpers of the machine's configuration. */
const NO_CREDENTIALS = "[credential]\n\thelper =\n";

/** The texts for the agent, each in its own file. */
export interface ContextTexts {
  readonly prompt: string;
  /** Prompt, task and notes together. */
  readonly task: string;
  /** The context, as JSON. */
  readonly context: string;
}

/**
 * The folder of one run: `checkouts/<owner>/<name>`, `records/` (to compute changes), `context/` (files for the agent,
 * including its skills), `home/` (its HOME), `temporary/` and `tools/` (its MCP servers). The runner removes it at the
 * end of the run.
 */
export class RunFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(workFolder: string, job: Pick<Job, "runId" | "fence" | "replay" | "search">): Promise<RunFolder> {
    const folder = new RunFolder(join(workFolder, "runs", `${job.runId.replace(/[^A-Za-z0-9_]/g, "")}-${job.fence}`));
    for (const path of [folder.path, folder.pushSites]) await rm(path, { recursive: true, force: true });
    for (const path of [folder.home, folder.temporary]) await mkdir(path, { recursive: true, mode: 0o700 });
    await mkdir(folder.context, { recursive: true });
    await mkdir(folder.checkouts, { recursive: true });
    const gitConfig = isIsolated(job) ? `${GIT_CONFIG}${NO_CREDENTIALS}` : GIT_CONFIG;
    await writeFile(join(folder.home, ".gitconfig"), gitConfig);
    return folder;
  }

  get home(): string {
    return join(this.path, "home");
  }

  get temporary(): string {
    return join(this.path, "temporary");
  }

  get context(): string {
    return join(this.path, "context");
  }

  get checkouts(): string {
    return join(this.path, "checkouts");
  }

  /** The folder of the run's skills, each in its own subfolder. */
  get skills(): string {
    return join(this.context, "skills");
  }

  /** The folder for the sockets of the run's MCP servers. */
  get tools(): string {
    return join(this.path, "tools");
  }

  /** The file that lists the MCP servers, in the form that MCP clients read. */
  get toolsConfig(): string {
    return join(this.tools, "mcp.json");
  }

  /** The folder of the task's files. */
  get attachments(): string {
    return join(this.context, "attachments");
  }

  /** The folder of the material that a search's agent can read. */
  get search(): string {
    return join(this.context, "search");
  }

  /** The folder in which a search's agent writes its proposals. The answers go to `answers`. */
  get proposals(): string {
    return join(this.search, "proposals");
  }

  get answers(): string {
    return join(this.search, "answers");
  }

  /** Writes the files of the run's skills. Throws if a path leads out of the skill's folder. */
  async writeSkills(skills: Job["skills"]): Promise<void> {
    await mkdir(this.skills, { recursive: true });
    for (const { key, files } of skills) {
      const folder = join(this.skills, key);
      for (const { path, content } of files) {
        const target = join(folder, path);
        if (!target.startsWith(`${folder}${sep}`))
          throw new Error(`the skill ${key} contains the invalid path ${path}`);
        await mkdir(dirname(target), { recursive: true });
        await writeFile(target, content);
      }
    }
  }

  get promptFile(): string {
    return join(this.context, "prompt.md");
  }

  get taskFile(): string {
    return join(this.context, "task.md");
  }

  get contextFile(): string {
    return join(this.context, "context.json");
  }

  /** Writes the texts for the agent. */
  async writeContext(texts: ContextTexts): Promise<void> {
    await writeFile(this.promptFile, texts.prompt);
    await writeFile(this.taskFile, texts.task);
    await writeFile(this.contextFile, texts.context);
  }

  checkout(repository: string): string {
    return join(this.checkouts, repository);
  }

  record(repository: string): string {
    return join(this.path, "records", `${repository}.git`);
  }

  /**
   * The git directory for a checkout's pushes. It is outside the run folder, so that a sandboxed agent cannot reach it.
   */
  pushSite(repository: string): string {
    return join(this.pushSites, `${repository}.git`);
  }

  /** The folder of the run's push sites. */
  get pushSites(): string {
    return join(dirname(dirname(this.path)), PUSH_SITES, basename(this.path));
  }

  /** The prefix of the marks of all processes that the run starts; see `process-marks.ts`. */
  get mark(): string {
    return `${this.path}/`;
  }

  /** Records a process of the run, so that the next runner can end it if something kills this runner. */
  async note(group: ProcessGroup): Promise<void> {
    await appendFile(join(this.path, PROCESSES), `${toNote(group.pid)}\n`);
  }

  /** Removes the folder and the push sites. Rejects if something remains. */
  async remove(): Promise<void> {
    await removeAll(this.pushSites);
    await removeAll(this.path);
  }
}

/**
 * Removes a folder, even if it contains read-only folders, or paths longer than the system's path limit. Rejects if
 * something remains.
 */
export async function removeAll(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    const run = promisify(execFile);
    await run("chmod", ["-R", "u+rwX", "--", path]).catch(() => undefined);
    // `rm` descends one folder at a time, so no path is too long for it.
    await run("rm", ["-rf", "--", path]);
  }
}
