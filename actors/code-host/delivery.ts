import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { address } from "../../runtime/cells/address.js";
import type { Reported } from "../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { InstallationChanged } from "./connection.messages.js";

/**
 * Returns whether the code host signed the body. `signature` is the header: `sha256=` and the HMAC-SHA256 of the body
 * in hex. The comparison takes constant time.
 */
export function isSignatureValid(secret: string, body: Uint8Array, signature: string | undefined): boolean {
  const given = /^sha256=([0-9a-f]{64})$/i.exec(signature ?? "")?.[1];
  if (given === undefined) return false;
  return timingSafeEqual(createHmac("sha256", secret).update(body).digest(), Buffer.from(given, "hex"));
}

/** The name of installation events in `x-github-event`. */
export const INSTALLATION_EVENT = "installation";

/** Parses a time to milliseconds since 1970. GitHub sends times as seconds or as text, depending on the event. */
const hostTime = z.union([
  z
    .int()
    .nonnegative()
    .max(8_640_000_000_000)
    .transform((seconds) => seconds * 1_000),
  z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
]);

/** The fields that the service reads from an installation event. */
export const installationEventSchema = z.object({
  action: z.string().describe("What happened to the installation, such as `suspend` or `deleted`."),
  installation: z
    .object({
      id: z.int().positive().describe("The number of the installation on the code host."),
      updated_at: hostTime.describe("When the installation last changed: seconds since 1970, or an RFC 3339 time."),
      suspended_at: z
        .unknown()
        .optional()
        .describe("When the installation was suspended; null or absent if it is not."),
      permissions: z
        .record(z.string(), z.string())
        .optional()
        .catch(undefined)
        .describe("The level of each permission that the app has, such as `write`, by the permission's name."),
    })
    .describe("The installation that the event is about; other members are ignored."),
});

const changes: Readonly<Record<string, InstallationChanged["change"]>> = {
  deleted: "deleted",
  suspend: "suspended",
  unsuspend: "unsuspended",
};

/** The action of an installation event that reports that the account's owner accepted new permissions of the app. */
const ACCEPTED = "new_permissions_accepted";

/** Returns the message for the installation's connection; null if the event has no effect. */
export function toInstallationChange({
  action,
  installation,
}: z.output<typeof installationEventSchema>): InstallationChanged | null {
  const { updated_at: atMs, suspended_at = null, permissions } = installation;
  if (action === ACCEPTED) {
    const change = suspended_at === null ? "unsuspended" : "suspended";
    return { type: "installation.changed", change, atMs, ...(permissions && { permissions }) };
  }
  const change = Object.hasOwn(changes, action) ? changes[action] : undefined;
  return change === undefined ? null : { type: "installation.changed", change, atMs };
}

/** Reports a delivery with a wrong signature. The workspace of such a delivery is unknown. */
export function reportRefused(codeHost: string): Reported {
  const line = { level: "warn", message: "delivery refused" } as const;
  const report = { name: "delivery.refused", line, details: { codeHost, reason: "signature", count: 1 } };
  return { from: address(GLOBAL_PARTITION, "code-host", codeHost), report };
}
