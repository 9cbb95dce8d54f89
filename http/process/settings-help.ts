import type { z } from "zod";
import { settings } from "./config.js";

/** Describes all settings, with their meanings and defaults, one per line. */
export function settingsHelp(): string {
  const entries: readonly (readonly [string, z.ZodType])[] = Object.entries(settings);
  const width = Math.max(...entries.map(([name]) => name.length));
  const lines = entries.map(([name, schema]) => `  ${name.padEnd(width)}  ${schema.description}${defaultText(schema)}`);
  return ["Settings:", ...lines].join("\n");
}

/** The setting's default in the form of the setting; empty if there is none. */
function defaultText(schema: z.ZodType): string {
  const shown = schema.meta()?.written ?? schema.safeParse(undefined).data ?? "";
  return shown === "" ? "" : ` (default: ${shown})`;
}
