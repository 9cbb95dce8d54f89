#!/usr/bin/env node
import { randomBytes } from "node:crypto";
import { homedir, hostname } from "node:os";
import { join, resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { createSystemClock } from "../../runtime/clock.js";
import { startRunner } from "./runner.js";

/**
 * The runner as a program: options from the command line, the token better from the environment. SIGTERM drains, a
 * second signal stops what runs, a third kills it.
 */

const program = new Command("signalbox-runner")
  .description("Works the runs of a Signalbox service.")
  .requiredOption("--url <url>", "the service's address", httpUrl)
  .addOption(new Option("--pool-token <token>", "the runner pool's token").env("SIGNALBOX_POOL_TOKEN"))
  .option("--name <name>", "how the runner is called", hostname())
  .option("--label <label>", "a label it offers; may be given several times", gather, [])
  .option("--slots <n>", "runs at once", count, 1)
  .option("--work-folder <folder>", "where it keeps mirrors and checkouts", join(homedir(), ".signalbox-runner"))
  .option("--git-url <template>", "where repositories come from", template, "https://github.com/{name}.git")
  .option("--pass-env <name>", "a variable of this environment that agents see; may be given several times", gather, [])
  .option("--command <program...>", "the agent program of the command harness, with its arguments", [])
  .argument("[program...]", "the same, after --, when its arguments begin with dashes");

function httpUrl(text: string): string {
  if (!/^https?:\/\/[^\s/]/.test(text)) throw new InvalidArgumentError("It must be an http or https address.");
  return text;
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1_000) throw new InvalidArgumentError("It must be 1 to 1000.");
  return value;
}

function gather(label: string, before: readonly string[]): string[] {
  return [...before, label];
}

function template(text: string): string {
  if (!text.includes("{name}")) throw new InvalidArgumentError("It must hold {name}, where owner/name belongs.");
  return text;
}

interface Options {
  readonly url: string;
  readonly poolToken?: string;
  readonly name: string;
  readonly label: readonly string[];
  readonly slots: number;
  readonly workFolder: string;
  readonly gitUrl: string;
  readonly passEnv: readonly string[];
  readonly command: readonly string[];
}

async function main(): Promise<void> {
  const options = program.parse().opts<Options>();
  if (options.poolToken === undefined || options.poolToken === "") {
    program.error("error: a pool token is needed: --pool-token, or SIGNALBOX_POOL_TOKEN in the environment");
  }
  // The agents' programs inherit nothing of this, but other tools of the machine might.
  delete process.env.SIGNALBOX_POOL_TOKEN;
  const workFolder = resolve(options.workFolder);
  const { url, poolToken: token = "", name, label: labels, slots, gitUrl, passEnv } = options;
  const command = [...options.command, ...program.args];
  const runner = await startRunner({
    ...{ url, token, name, labels, slots, workFolder, gitUrl, passEnv, command },
    clock: createSystemClock(),
    random: Math.random,
    instance: randomBytes(16).toString("hex"),
    say: (line) => console.log(line),
  });
  process.on("exit", () => runner.kill());
  let signals = 0;
  const end = () => {
    signals += 1;
    console.log(["draining: runs under way are finished", "stopping"][signals - 1] ?? "killed");
    if (signals > 2) process.exit(1);
    (signals === 1 ? runner.drain() : runner.stop()).then(() => process.exit(0), failed);
  };
  process.on("SIGTERM", end).on("SIGINT", end);
}

function failed(error: unknown): void {
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

main().catch(failed);
