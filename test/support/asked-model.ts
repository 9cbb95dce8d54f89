import type { Test } from "tap";
import { z } from "zod";
import { createOutbound } from "../../actors/outbound/http/request.js";
import { askModel, type ModelOutcome, modelEffect } from "../../actors/outbound/models/model.effects.js";
import { createModel } from "../../actors/outbound/models/model.js";
import { MAX_MODEL_ANSWER_BYTES } from "../../actors/outbound/models/model-answer.js";
import { type ModelSettings, modelAddresses } from "../../actors/outbound/models/model-settings.js";
import type { Scripted } from "../../http/demo/scripted-model.js";
import { address } from "../../runtime/cells/address.js";
import { RunAbort } from "../../runtime/effects/run-signal.js";
import { ManualClock } from "./manual-clock.js";
import { modelServer } from "./model-server.js";

export const key = "sk-canary-0123456789";
export const form = z.strictObject({ passes: z.boolean(), reasons: z.array(z.string()).max(3) });
export const good = { passes: true, reasons: ["It works."] };
export const messages = [
  { role: "system", content: "Judge it." },
  { role: "user", content: "The change" },
] as const;
/** The price of 1,000 input tokens and 100 output tokens, the usage that the scripted model reports. */
const CALL = 0.003_5;

export const toSpent = (calls: number, amount = calls * CALL, isEstimate = false) => ({
  calls,
  cost: { amount, currency: "USD" },
  isEstimate,
});

interface Given {
  readonly settings?: Partial<ModelSettings>;
  readonly timeoutMs?: number;
  /** The answer of the model when its queue of scripted answers is empty. */
  readonly usual?: Scripted;
}

/** Creates the model effect over a scripted model. `ask` runs the effect and returns its outcome. */
export async function askedModel(t: Test, { settings: more = {}, timeoutMs = 60_000, usual }: Given = {}) {
  const server = await modelServer(t, usual);
  const clock = new ManualClock();
  const logged: unknown[] = [];
  const prices = { in: 2.5, out: 10, currency: "USD", models: {} };
  const settings: ModelSettings = { url: server.url, key, name: "large", prices, ...more };
  const outbound = createOutbound({
    allowList: modelAddresses(settings),
    maxBodyBytes: MAX_MODEL_ANSWER_BYTES,
  });
  t.teardown(() => outbound.close());
  const log = { warn: (...line: unknown[]) => void logged.push(line) };
  const effect = modelEffect(createModel({ settings, outbound, log, now: () => clock.now(), timeoutMs }));
  const prepare = ({ model = null as string | null, mayHaveBegun = false, maxTokens = 500 } = {}) => {
    const { input } = askModel(messages, form, { id: "1", model, maxTokens });
    // The runtime stores effect inputs as plain data.
    return effect.prepare(JSON.parse(JSON.stringify(input)), {
      id: "1",
      owner: address("ws_1", "replay", "rp_1"),
      memo: undefined,
      mayHaveBegun,
    });
  };
  const ask = async (given: Parameters<typeof prepare>[0] & { readonly signal?: RunAbort } = {}) => {
    const outcome = (await prepare(given).begin(given.signal ?? new RunAbort())) as ModelOutcome;
    t.notMatch(JSON.stringify([outcome, logged]), key, "no key is told");
    return outcome;
  };
  return { server, clock, logged, ask, prepare };
}
