import { z } from "zod";
import type { Effect } from "../../runtime/cells/actor-type.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { CodeHost } from "../outbound/code-host/code-host.js";
import { CodeHostRefused } from "../outbound/code-host/code-host-requests.js";
import { codeHostLane } from "../outbound/http/lanes.js";
import { type ConfirmedInstallation, toConfirmedInstallation } from "./confirmation.effects.js";

/** Reads the status of an installation at the code host. */
export const INSTALLATION_CHECK_EFFECT = effect<z.output<typeof nameSchema>, InstallationStatus>("code-host-look");

const nameSchema = z.strictObject({ host: z.string(), installationId: z.int().positive() });

/**
 * The status of an installation at the code host. The status is `unknown` in these cases:
 *
 * - The code host is not configured, does not answer, or refuses.
 * - The account is neither an organisation nor a user.
 */
export type InstallationStatus =
  | { readonly seen: "there"; readonly installation: ConfirmedInstallation }
  | { readonly seen: "gone" }
  | { readonly seen: "unknown" };

/** Reads the status of an installation. `codeHost` is null if none is currently configured. */
export function installationCheckEffect(codeHost: CodeHost | null): Effect {
  return INSTALLATION_CHECK_EFFECT.implement(codeHostLane, async (input) => {
    const { host, installationId } = nameSchema.parse(input);
    if (codeHost?.name !== host) return { seen: "unknown" };
    try {
      const installation = await codeHost.installation(installationId);
      if (installation === null) return { seen: "gone" };
      const known = toConfirmedInstallation(installation);
      return known === null ? { seen: "unknown" } : { seen: "there", installation: known };
    } catch (error) {
      if (error instanceof CodeHostRefused) return { seen: "unknown" };
      throw error;
    }
  });
}
