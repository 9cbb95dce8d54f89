import { WrongSetting } from "../../process/config.js";
import { isStoreError } from "../../process/open-store.js";
import { FolderTaken } from "../../runner/checkout/work-folder.js";
import { toDetail } from "../../wire/problem.js";
import { Refused } from "../../wire/refused.js";
import { CommandError } from "../command/exit-codes.js";

/** Waits for a part of `signalbox dev`. Errors that a person can do something about become {@link CommandError}s. */
export async function explained<Value>(part: Promise<Value>): Promise<Value> {
  try {
    return await part;
  } catch (error) {
    if (error instanceof Refused) throw new CommandError(toDetail(error.refusal));
    // The person cannot choose the folder here.
    if (error instanceof FolderTaken) {
      throw new CommandError(`the runner with process id ${error.pid} uses ${error.folder}: stop that runner first`);
    }
    const isKnown = isStoreError(error) || error instanceof WrongSetting;
    throw isKnown ? new CommandError(error.message) : error;
  }
}
