/** A check could not be asked for, or its verdict not be read. The message is a sentence for people, without secrets. */
export class CouldNotAsk extends Error {
  override readonly name = "CouldNotAsk";
}
