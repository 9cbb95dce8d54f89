/** The connection of a live response. Its methods never throw. After the response has ended, `send` drops its bytes. */
export interface LiveConnection {
  /** Sends a part of the body, as a string or as UTF-8 bytes. Do not change the bytes afterwards. */
  send(text: string | Uint8Array): void;
  /**
   * Approximate number of bytes that `send` accepted and the peer has not received yet. If you send much data, check
   * this value and wait for `drained`.
   */
  readonly bufferedBytes: number;
  /** Ends the response. The client still gets what was sent before. */
  end(): void;
}

/** Handles the events of a live response, in order. No event follows `closed`. */
export interface LiveHandler {
  /** Called when the send buffer is empty again. */
  drained(): void;
  /** Called once, when the response has ended or the client is gone. */
  closed(): void;
}

/** A response without a known end. Its handler sends to the client while the connection is open. */
export interface LiveAnswer {
  /** The content type of the text. */
  readonly type: string;
  /**
   * The id of the person or token that reads the response. The service limits a holder's live responses and sockets
   * together.
   */
  readonly holder: string;
  /**
   * Called when the connection opens; sends the first part of the body. Not called for HEAD, or if the client is gone.
   */
  open(connection: LiveConnection): LiveHandler;
}
