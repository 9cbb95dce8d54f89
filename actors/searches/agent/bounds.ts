/** Limits for the files that a search's agent receives. */

/** Maximum size of all files together, in bytes. */
export const MAX_BYTES = 16 * 1024 * 1024;
/** Maximum size of one file, in bytes. */
export const MAX_FILE_BYTES = 256 * 1024;
/** Maximum number of files. */
export const MAX_FILES = 1_000;
/** Maximum number of steps to show from the end of a copy's run. */
export const MAX_STEPS = 50;
