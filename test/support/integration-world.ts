import type { Test } from "tap";
import { integrationRequestEffect } from "../../actors/integrations/requests/integration-request.effects.js";
import type { Outbound } from "../../actors/outbound/http/request.js";
import type { ActorType } from "../../runtime/cells/actor-type.js";
import { effectSpace } from "../../storage/keys.js";
import { Harness } from "./harness.js";
import { integrationRows, sealer, WORKSPACE } from "./integration-rows.js";

/**
 * The definition of the integration, the actors of each process, and `send`, which answers the integration's requests.
 */
export interface IntegrationWorldOptions {
  readonly definition: Readonly<Record<string, unknown>>;
  readonly actors: readonly ActorType[];
  readonly send: Outbound["send"];
}

/**
 * Starts a simulated service on a store that contains an integration. After a crash, `start` starts the service again.
 */
export async function integrationWorld(t: Test, { definition, actors, send }: IntegrationWorldOptions) {
  const harness = new Harness({ catalogue: {} });
  const changes = integrationRows(definition)
    .range({ prefix: [WORKSPACE] })
    .map(({ key, value }) => ({ op: "put" as const, key, value }));
  const stored = harness.disk.open().commit(changes);
  await harness.advance();
  await stored;
  const start = async () => {
    const effect = integrationRequestEffect({
      reading: () => harness.runtime.reading,
      outbound: { send },
      sealer,
      clock: harness.world.clock,
      log: { error: (message: string) => t.fail(message) },
      baseUrl: () => "https://signalbox.example",
    });
    await harness.start({ actors, effects: [effect] });
  };
  await start();
  /** Returns the number of effects that have not ended. */
  const pending = () => harness.durable.range({ prefix: [WORKSPACE, effectSpace] }).length;
  return { harness, start, pending };
}
