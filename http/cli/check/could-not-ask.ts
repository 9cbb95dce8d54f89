/**
 * A check could not be started, or its verdict could not be read. The message is a sentence for people and contains no
 * secrets.
 */
export class CouldNotAsk extends Error {
  override readonly name = "CouldNotAsk";
}
