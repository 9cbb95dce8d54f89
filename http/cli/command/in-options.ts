import { ApiError } from "../../client/entry.js";
import { CommandError, exitCodes } from "./exit-codes.js";

/**
 * Awaits a call. If the service refuses fields of its body, throws a {@link CommandError} that names the options
 * instead of the fields. `names` maps each field to the start of its message, such as `budget.ceiling.amount` to
 * `--ceiling: `. The entry of a list also applies to its elements.
 */
export async function inOptions<Result>(
  call: Promise<Result>,
  names: Readonly<Record<string, string>>,
): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    const { errors = [] } = error instanceof ApiError ? (error.problem ?? {}) : {};
    if (errors.length === 0) throw error;
    const lines = errors.map(({ path, message }) => {
      const name = names[path.replace(/\[\d+\]$/, "")];
      return `${name ?? `${path}: `}${message}`;
    });
    throw new CommandError(lines.join("\n"), exitCodes.failed, { cause: error });
  }
}
