import { WrongSetting } from "../../process/config.js";
import { isStoreError } from "../../process/open-store.js";
import { FolderTaken } from "../../runner/checkout/work-folder.js";
import { toDetail } from "../../wire/problem.js";
import { Refused } from "../../wire/refused.js";
import { CommandError } from "../command/exit-codes.js";

interface Explaining {
  /** Whether the port was given with `--port`, so that errors name the option instead of the setting. */
  readonly isPortOption?: boolean;
  /** Returns the message for a store that is in use; null to use the store's own message. */
  readonly toInUse?: () => string | null;
}

/** Waits for a part of `signalbox dev`. Errors that a person can do something about become {@link CommandError}s. */
export async function explained<Value>(
  part: Promise<Value>,
  { isPortOption = false, toInUse = () => null }: Explaining = {},
): Promise<Value> {
  try {
    return await part;
  } catch (error) {
    if (error instanceof Refused) throw new CommandError(toDetail(error.refusal));
    // Replace the error's own message, because it advises `--work-folder`, an option that `signalbox dev` does not
    // have.
    if (error instanceof FolderTaken) {
      throw new CommandError(`the runner with process id ${error.pid} uses ${error.folder}: stop that runner first`);
    }
    if (isStoreError(error)) {
      throw new CommandError((error.code === "in-use" ? toInUse() : null) ?? error.message);
    }
    if (!(error instanceof WrongSetting)) throw error;
    throw new CommandError(isPortOption ? error.message.replace(/^(HOST, )?PORT/, "--port") : error.message);
  }
}
