import type { Names } from "../expressions/evaluate.js";
import type { Value } from "../expressions/values.js";
import { type ReceivedBody, readReceivedBody } from "../integrations/received-body.js";

/** Headers by lower-case name. */
export type DeliveryHeaders = ReadonlyMap<string, string>;

/** What came in a delivery, read as far as an expression wants it: a body of megabytes is dear to read. */
export class ReceivedDelivery {
  readonly bytes: Uint8Array;
  readonly headers: DeliveryHeaders;
  /** The cursor that the poll had, whose answer it is; null for a webhook's. */
  readonly cursor: string | null;
  readonly #readBody: typeof readReceivedBody;
  #read: ReceivedBody | null = null;

  /** `readBody` is for what remembers bodies that it has read. */
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

  /** The same with other headers; its body is read once for both. */
  withHeaders(headers: DeliveryHeaders): ReceivedDelivery {
    return new ReceivedDelivery(this.bytes, headers, this.cursor, () => this.#body);
  }

  /** The values of the names that a field with expressions may use: those that its text mentions. */
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
