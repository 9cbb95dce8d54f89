import type { z } from "zod";
import { settings } from "./config.js";

/** All settings with their meanings and defaults, a line each. */
export function settingsHelp(): string {
  const entries: readonly (readonly [string, z.ZodType])[] = Object.entries(settings);
  const width = Math.max(...entries.map(([name]) => name.length));
  const lines = entries.map(([name, schema]) => `  ${name.padEnd(width)}  ${schema.description}${defaultText(schema)}`);
  return ["Settings:", ...lines].join("\n");
}

/** Its default as it would be set; empty for none. */
function defaultText(schema: z.ZodType): string {
  const shown = schema.meta()?.written ?? schema.safeParse(undefined).data ?? "";
  return shown === "" ? "" : ` (default: ${shown})`;
}
