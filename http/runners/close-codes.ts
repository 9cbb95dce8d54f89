/** Close codes of runner sockets. Codes 4000 to 4999 are for applications (RFC 6455, 7.4.2). */

/** The runner violated the protocol. */
export const BAD_FRAME = 4400;
/** The token is no longer valid. */
export const NOT_ADMITTED = 4401;
/** The runner has a newer connection. */
export const REPLACED = 4409;
/** The runner should reconnect and continue. */
export const AGAIN = 4503;

/** Closes a connection. */
export type EndConnection = (code: number, reason: string) => void;
