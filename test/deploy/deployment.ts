import { readFileSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import { Command } from "commander";
import { readConfig, settings } from "../../http/process/config.js";
import { declareRunner, type RunnerFlags } from "../../http/runner/command-line.js";
import { type RunnerWish, readWish } from "../../http/runner/read-wish.js";
import type { Config } from "../../http/wire/config.js";

/** Reads the deployment examples of `docs/deploy/` as the product reads them. */

/** The host name that readers replace. */
export const HOST = "signalbox.example";

/** The port that the service listens on by default. */
export const { port: PORT } = readConfig({});

export const { version: release }: { readonly version: string } = JSON.parse(readFileSync("package.json", "utf8"));

/** Returns a file of `docs/deploy/`. */
export function example(name: string): string {
  return readFileSync(`docs/deploy/${name}`, "utf8");
}

type Environment = Readonly<Record<string, string>>;

/** Reads an environment as the service does. Throws for a name or value that the service does not know. */
export function readSettings(environment: Environment): Config {
  const unknown = Object.keys(environment).filter((name) => !(name in settings) && name !== "NODE_OPTIONS");
  if (unknown.length > 0) throw new Error(`these are not settings: ${unknown}`);
  return readConfig(environment);
}

/** Reads the arguments of `signalbox runner` as the runner does. Throws if an argument is invalid. */
export function readRunner(words: readonly string[]): RunnerWish {
  const [name, ...args] = words;
  if (name !== "runner") throw new Error(`${words.join(" ")} does not start a runner`);
  const command = declareRunner(new Command()).exitOverride().parse(args, { from: "user" });
  return readWish({ ...command.opts<RunnerFlags>(), poolToken: "token" }, command.args, (message) => {
    throw new Error(message);
  });
}

/** Whether a path is inside one of these folders. A folder is not inside itself. */
export function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => {
    const rest = relative(folder, path);
    return rest !== "" && !rest.startsWith("..") && !isAbsolute(rest);
  });
}
