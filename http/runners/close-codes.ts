/** Close codes of runners' sockets; 4000 to 4999 are an application's own (RFC 6455, 7.4.2). */

/** What came is not of the protocol. */
export const BAD_FRAME = 4400;
/** The token admits no more. */
export const NOT_ADMITTED = 4401;
/** The runner has another connection now. */
export const REPLACED = 4409;
/** The runner is to connect again, and goes on from there. */
export const AGAIN = 4503;

/** Ends a connection. */
export type EndConnection = (code: number, reason: string) => void;
