import { CommandError } from "../command/exit-codes.js";

/**
 * Runs work on a store. The errors of a store have messages for people, so this function makes them {@link
 * CommandError}s, which are shown without a stack.
 */
export async function onStore<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof CommandError || !(error instanceof Error) ? error : new CommandError(error.message);
  }
}
