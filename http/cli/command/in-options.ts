import { ApiError } from "../../client/entry.js";
import { CommandError, exitCodes } from "./exit-codes.js";

/**
 * Waits for a call. If fields of its body are refused, throws a {@link CommandError} that names the options instead.
 * `names` has the beginning of the message by field, such as `--ceiling: ` for `budget.ceiling.amount`. The field of a
 * list stands for its elements too.
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
