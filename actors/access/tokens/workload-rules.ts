/** Requirements for every workload token, under every trust (configuration API, Workspace token exchange). */

/** The only accepted algorithms. */
export const WORKLOAD_ALGORITHMS: readonly string[] = ["RS256", "RS384", "RS512", "ES256", "ES384", "PS256"];
/** Allowed clock skew, in seconds. */
export const TOLERANCE_SECONDS = 30;
/** Maximum length of a token, in characters. */
export const MAX_TOKEN_LENGTH = 16 * 1024;
/** Maximum length of an actual value in a refusal that users see, in characters. */
export const MAX_SHOWN_LENGTH = 255;
