import type { Job } from "../../../actors/runners/job.js";
import type { Checkout } from "../checkout/checkout.js";
import type { RunFolder } from "../checkout/run-folder.js";
import { isIsolated } from "./isolated-run.js";

/** Variables of the runner's environment that programs always get. */
const ALWAYS = ["PATH", "LANG", "LC_ALL", "TZ"];

/** Variables that pass credentials to git and to clients of code hosts. */
const CREDENTIAL = /^(?:GIT_|SSH_|(?:GH|GITHUB|GITLAB|GITEA|BITBUCKET)_(?:.*_)?TOKEN$)/;

/** The inputs of a program's environment besides the job and its folder. */
export interface EnvironmentOptions {
  readonly checkouts: readonly Checkout[];
  /** The names of the environment variables of the runner to pass to the program. */
  readonly passed: readonly string[];
  /** Whether the program gets the values of the harness's secrets. */
  readonly secrets: boolean;
}

/**
 * Returns the environment of a run's programs: the run's own variables and, from the runner's environment, only {@link
 * ALWAYS} and the names in `passed`. In a replay or search, names that match {@link CREDENTIAL} are removed from
 * `passed`.
 */
export function toEnvironment(job: Job, folder: RunFolder, more: EnvironmentOptions): Record<string, string> {
  const folders = more.checkouts.map((checkout) => [checkout.repository, checkout.folder] as const);
  const passed = isIsolated(job) ? more.passed.filter((name) => !CREDENTIAL.test(name)) : more.passed;
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "C.UTF-8",
    ...ofTheMachine([...ALWAYS, ...passed]),
    HOME: folder.home,
    TMPDIR: folder.temporary,
    ...job.harness.env,
    ...(more.secrets ? job.harness.secrets : {}),
    SIGNALBOX_RUN: job.runId,
    ...(job.task === undefined ? {} : { SIGNALBOX_TASK: job.task.id }),
    SIGNALBOX_STATION: job.station.key,
    SIGNALBOX_PROMPT_FILE: folder.promptFile,
    SIGNALBOX_TASK_FILE: folder.taskFile,
    SIGNALBOX_CONTEXT_FILE: folder.contextFile,
    SIGNALBOX_SKILLS: folder.skills,
    SIGNALBOX_MCP_CONFIG: folder.toolsConfig,
    ...(job.task?.attachments === undefined ? {} : { SIGNALBOX_ATTACHMENTS: folder.attachments }),
    ...(job.search === undefined ? {} : { SIGNALBOX_SEARCH: folder.search }),
    SIGNALBOX_CHECKOUTS: JSON.stringify(Object.fromEntries(folders)),
  };
}

function ofTheMachine(names: readonly string[]): Record<string, string> {
  const entries = names.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}
