import { z } from "zod";
import type { Sealer } from "../sealer.js";

const tokensSchema = z.strictObject({ access: z.string(), refresh: z.string().nullable() });

/** The tokens of a linked account. */
export type LinkedTokens = z.output<typeof tokensSchema>;

/** Opens the sealed tokens of a linked account. Throws if `sealed` is anything else. */
export function openTokens(sealer: Pick<Sealer, "open">, sealed: string): LinkedTokens {
  return tokensSchema.parse(JSON.parse(sealer.open(sealed)));
}
