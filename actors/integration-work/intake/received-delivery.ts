import type { Names } from "../../expressions/evaluate.js";
import type { Value } from "../../expressions/values.js";
import { type ReceivedBody, readReceivedBody } from "../../integrations/received-body.js";

/** Headers by lower-case name. */
export type DeliveryHeaders = ReadonlyMap<string, string>;

/**
 * A received delivery. It parses the body only when an expression uses it, because parsing a body of megabytes is
 * expensive.
 */
export class ReceivedDelivery {
  readonly bytes: Uint8Array;
  readonly headers: DeliveryHeaders;
  /** The cursor of the poll that received this response; null for a webhook. */
  readonly cursor: string | null;
  readonly #readBody: typeof readReceivedBody;
  #read: ReceivedBody | null = null;

  /** Pass `readBody` to reuse bodies that are already parsed. */
  constructor(
    bytes: Uint8Array,
    headers: DeliveryHeaders,
    cursor: string | null = null,
    readBody: typeof readReceivedBody = readReceivedBody,
  ) {
    this.bytes = bytes;
    this.headers = headers;
    this.cursor = cursor;
    this.#readBody = readBody;
  }

  /** Returns the same delivery with other headers. The two deliveries share one parsed body. */
  withHeaders(headers: DeliveryHeaders): ReceivedDelivery {
    return new ReceivedDelivery(this.bytes, headers, this.cursor, () => this.#body);
  }

  /**
   * Returns the values for the names in a field's expression. `body` and `raw` are read only if the field's text
   * mentions them.
   */
  namesFor(field: string): Names {
    const names: Record<string, Value> = { headers: this.headers };
    if (/\bbody\b/.test(field)) names.body = this.#body.body;
    if (/\braw\b/.test(field)) names.raw = this.#body.raw;
    if (this.cursor !== null) names.cursor = this.cursor;
    return names;
  }

  get #body(): ReceivedBody {
    this.#read ??= this.#readBody(this.bytes, this.headers.get("content-type"));
    return this.#read;
  }
}
