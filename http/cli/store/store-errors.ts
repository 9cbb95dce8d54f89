import { CommandError } from "../command/exit-codes.js";

/** Runs work on a store. Its errors have messages for people, so they are shown without a stack. */
export async function onStore<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof CommandError || !(error instanceof Error) ? error : new CommandError(error.message);
  }
}
