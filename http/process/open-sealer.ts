import { createSealer, type Sealer } from "../../actors/sealer.js";
import { findSealingKeyMark, toKeyMark } from "../../actors/workspaces/sealing-key.machine.js";
import type { Reading } from "../../storage/store.js";
import { type Config, WrongSetting } from "./config.js";
import { holdsSecretsKey, loadOrCreateSecretsKey } from "./secrets-key.js";

/** The sealer with the key of the settings or the data folder. Throws {@link WrongSetting} if the store has another. */
export function openSealer(config: Config, reading: Reading, randomBytes: (count: number) => Uint8Array): Sealer {
  const { dataFolder, secretsKey, isSecretsKeyLost } = config;
  const known = isSecretsKeyLost ? null : findSealingKeyMark(reading);
  const wrong = (what: string) =>
    new WrongSetting(
      `SECRETS_KEY: the secrets in ${dataFolder} are encrypted with ${what}: set that one, or put its secrets.key there`,
    );
  if (known !== null && secretsKey === null && !holdsSecretsKey(dataFolder)) throw wrong("a key that is missing");
  const sealer = createSealer(secretsKey ?? loadOrCreateSecretsKey(dataFolder, randomBytes), randomBytes);
  if (known !== null && known !== toKeyMark(sealer)) throw wrong("another key");
  return sealer;
}
