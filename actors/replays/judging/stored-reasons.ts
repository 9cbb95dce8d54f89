import { z } from "zod";
import type { Reading, Writing } from "../../../storage/store.js";
import { getText, storeText } from "../../tables/text-blobs.js";
import { excerptReasons, REASONS_BYTES } from "../figures/excerpt.js";

/** Reasons in the form that a row stores. */
export interface StoredReasons<Reason> {
  /** The first reasons, for entries and lists: at most `REASONS_BYTES` as JSON. */
  readonly brief: readonly Reason[];
  /** Digest of a blob with all reasons as JSON; null when `brief` is complete. */
  readonly whole: string | null;
}

/** Stores reasons for a row that this turn writes. */
export function storeReasons<Reason extends { readonly text: string }>(
  writing: Writing,
  workspaceId: string,
  reasons: readonly Reason[],
): StoredReasons<Reason> {
  const brief = excerptReasons(reasons, REASONS_BYTES);
  const isWhole = brief.length === reasons.length && brief.at(-1)?.text === reasons.at(-1)?.text;
  return { brief, whole: isWhole ? null : storeText(writing, workspaceId, JSON.stringify(reasons)) };
}

/** Reads all reasons. */
export function readReasons<Reason>(
  reading: Reading,
  workspaceId: string,
  { brief, whole }: StoredReasons<Reason>,
  form: z.ZodType<Reason>,
): readonly Reason[] {
  return whole === null ? brief : z.array(form).parse(JSON.parse(getText(reading, workspaceId, whole)));
}

/** Lists the digests of the blobs that a row with these reasons refers to. */
export function bodiesOfReasons({ whole }: StoredReasons<unknown>): readonly string[] {
  return whole === null ? [] : [whole];
}
