/** What the agent of a search is shown, at most. */

/** Bytes of all files together. */
export const MAX_BYTES = 16 * 1024 * 1024;
/** Bytes of one file. */
export const MAX_FILE_BYTES = 256 * 1024;
/** Number of files. */
export const MAX_FILES = 1_000;
/** Number of an agent's last steps. */
export const MAX_STEPS = 50;
