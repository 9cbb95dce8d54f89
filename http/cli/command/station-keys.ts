import { CommandError, exitCodes } from "./exit-codes.js";
import { toLine } from "./printable.js";

/** Splits `--stations`. Throws a {@link CommandError} for keys that the service would refuse. */
export function parseStationKeys(text: string): readonly string[] {
  const keys = text.split(",").map((key) => key.trim());
  const wrong = keys.find((key) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(key) || key.length > 64);
  if (wrong !== undefined) {
    throw new CommandError(
      `--stations: "${toLine(wrong)}" must be lowercase words joined by dashes; give keys like work,review`,
      exitCodes.usage,
    );
  }
  const repeated = keys.find((key, index) => keys.indexOf(key) !== index);
  if (repeated !== undefined) throw new CommandError(`--stations: ${repeated} is named twice`, exitCodes.usage);
  return keys;
}
