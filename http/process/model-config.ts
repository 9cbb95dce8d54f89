import { z } from "zod";
import type { ModelSettings } from "../../actors/outbound/models/model-settings.js";

const ADDRESS = "must be an http or https address without a query";
const PRICES =
  'must be JSON such as {"in": 2.5, "out": 10, "currency": "USD"}: prices per million tokens, with prices of ' +
  'other models under "models"';

/** The address of the model's API. It may be private, and it need not be on the allow-list. */
const modelUrl = z
  .string()
  .refine(isModelUrl, ADDRESS)
  .transform((text) => text.replace(/\/+$/, "").replace(/\/chat\/completions$/, ""));

const price = z.number().min(0).max(1_000_000);
const pricesSchema = z.strictObject({
  in: price,
  out: price,
  currency: z.string().regex(/^[A-Z]{3}$/),
  models: z.record(z.string().min(1).max(255), z.strictObject({ in: price, out: price })).default({}),
});

const modelPrices = z.string().transform((text, context) => {
  const parsed = pricesSchema.safeParse(readJson(text));
  if (parsed.success) return parsed.data;
  context.addIssue({ code: "custom", message: PRICES });
  return z.NEVER;
});

/** The settings of the model. Each schema checks one setting on its own. */
export const modelSettings = {
  MODEL_URL: modelUrl.optional().describe("OpenAI-compatible API of the model that judges changes"),
  MODEL_KEY: z
    .string()
    .regex(/^[!-~]{1,2000}$/, "must be at most 2000 characters without spaces")
    .optional()
    .describe("bearer key of that API"),
  MODEL_NAME: z
    .string()
    .regex(/^\P{C}{1,255}$/u, "must be a model's name of at most 255 characters")
    .optional()
    .describe("model to ask; required with MODEL_URL"),
  MODEL_PRICES: modelPrices
    .optional()
    .describe('prices per million tokens, as JSON: {"in": 2.5, "out": 10, "currency": "USD"}'),
} as const;

type SettingName = keyof typeof modelSettings;
type Read = <Name extends SettingName>(name: Name) => z.output<(typeof modelSettings)[Name]>;

/**
 * Reads the model's settings. Returns null if none is set. If any is set, `MODEL_URL` and `MODEL_NAME` must be set too;
 * otherwise `wrong` is a one-line message that names the missing setting.
 */
export function findModel(read: Read): ModelSettings | null | { readonly wrong: string } {
  const [url, key, name, prices] = [read("MODEL_URL"), read("MODEL_KEY"), read("MODEL_NAME"), read("MODEL_PRICES")];
  if (url !== undefined && name !== undefined) return { url, key: key ?? null, name, prices: prices ?? null };
  if (url !== undefined) return { wrong: "MODEL_NAME: must be set when MODEL_URL is set" };
  if (key === undefined && name === undefined && prices === undefined) return null;
  return { wrong: "MODEL_URL: must be set when other model settings are set" };
}

function isModelUrl(text: string): boolean {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username + password === "";
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
