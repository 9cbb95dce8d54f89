import { type ParseArgsConfig, parseArgs } from "node:util";

/**
 * Parses the arguments of this process with `parseArgs`. For `--help`, prints the usage and exits. For invalid
 * arguments, prints the error and the usage, and exits with code 2.
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

/** Prints why the arguments are wrong, then the usage, and exits with code 2. */
export function refuseArguments(usage: string, why: string): never {
  console.error(`${why}\n\n${usage}`);
  process.exit(2);
}
