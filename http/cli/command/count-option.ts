import { InvalidArgumentError, Option } from "commander";

interface CountBounds {
  readonly max?: number;
  /** The option's value if the person omits the option. Without this default, the value is then undefined. */
  readonly default?: number;
}

/** Creates an option that takes a whole number from 1 to `max` (default: 999,999). */
export function countOption(
  flags: string,
  description: string,
  { max = 999_999, default: usual }: CountBounds = {},
): Option {
  const option = new Option(flags, description).argParser((text) => {
    if (/^[1-9]\d*$/.test(text) && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  });
  return usual === undefined ? option : option.default(usual);
}
