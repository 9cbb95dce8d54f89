import type { z } from "zod";
import { settings } from "./config.js";

/** Describes all settings, with their meanings and defaults, one per line. */
export function settingsHelp(): string {
  const entries: readonly (readonly [string, z.ZodType])[] = Object.entries(settings);
  const width = Math.max(...entries.map(([name]) => name.length));
  const lines = entries.map(([name, schema]) => `  ${name.padEnd(width)}  ${describeSetting(schema)}`);
  return ["Settings:", ...lines].join("\n");
}

function describeSetting(schema: z.ZodType): string {
  const shown = getDefault(schema);
  return `${schema.description}${shown === "" ? "" : ` (default: ${shown})`}`;
}

/** Returns a setting's default as a user would write it, or in words; empty if there is none. */
export function getDefault(schema: z.ZodType): string {
  return String(schema.meta()?.written ?? schema.safeParse(undefined).data ?? "");
}
