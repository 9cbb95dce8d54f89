import { z } from "zod";
import type { Reading, Writing } from "../../../storage/store.js";
import { getText, storeText } from "../../tables/text-blobs.js";
import { excerptReasons, REASONS_BYTES } from "../figures/excerpt.js";

/** Reasons as a row keeps them. */
export interface KeptReasons<Reason> {
  /** The first of them, for entries and lists: at most `REASONS_BYTES` as JSON. */
  readonly brief: readonly Reason[];
  /** Digest of a body with all of them, as JSON; null when `brief` has them all. */
  readonly whole: string | null;
}

/** Keeps reasons for a row that this turn writes. */
export function keepReasons<Reason extends { readonly text: string }>(
  writing: Writing,
  workspaceId: string,
  reasons: readonly Reason[],
): KeptReasons<Reason> {
  const brief = excerptReasons(reasons, REASONS_BYTES);
  const isWhole = brief.length === reasons.length && brief.at(-1)?.text === reasons.at(-1)?.text;
  return { brief, whole: isWhole ? null : storeText(writing, workspaceId, JSON.stringify(reasons)) };
}

/** All reasons. */
export function readReasons<Reason>(
  reading: Reading,
  workspaceId: string,
  { brief, whole }: KeptReasons<Reason>,
  form: z.ZodType<Reason>,
): readonly Reason[] {
  return whole === null ? brief : z.array(form).parse(JSON.parse(getText(reading, workspaceId, whole)));
}

/** The digests of the bodies that a row with these reasons refers to. */
export function bodiesOfReasons({ whole }: KeptReasons<unknown>): readonly string[] {
  return whole === null ? [] : [whole];
}
