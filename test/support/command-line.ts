import { type ParseArgsConfig, parseArgs } from "node:util";

/**
 * The arguments of this process, as `parseArgs` reads them. With `--help` it prints the usage and ends the process;
 * with an argument that is not known it says so, prints the usage too, and ends it with 2.
 */
export function readArguments<Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  if (process.argv.slice(2).includes("--help")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    return refuseArguments(usage, error instanceof Error ? error.message : String(error));
  }
}

/** Says what is wrong with the arguments, prints the usage, and ends the process with 2. */
export function refuseArguments(usage: string, why: string): never {
  console.error(`${why}\n\n${usage}`);
  process.exit(2);
}
