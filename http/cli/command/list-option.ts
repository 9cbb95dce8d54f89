import { InvalidArgumentError, Option } from "commander";

/**
 * Creates an option that takes words from `words`, separated by commas. The option can be repeated. Its value has each
 * given word once.
 */
export function listOption<Word extends string>(flags: string, description: string, words: readonly Word[]): Option {
  return new Option(flags, description).argParser<readonly Word[]>((text, before = []) => {
    const given = text.split(",").map((each) => words.find((word) => word === each.trim()));
    const known = given.filter((word) => word !== undefined);
    if (known.length < given.length) throw new InvalidArgumentError(`It takes ${words.join(", ")}.`);
    return [...new Set([...before, ...known])];
  });
}
