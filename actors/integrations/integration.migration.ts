import { eachRow, putRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";

/** A resource, as far as this step reads it. */
interface StoredResource {
  readonly kind: string;
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

type Block = Readonly<Record<string, unknown>>;

/** Webhooks got further ways to authenticate and to answer; those that say nothing have the defaults. */
export const webhookTermsWalks: readonly Walk[] = [
  eachRow<StoredResource>("resource", (row, place) => {
    const webhook = row.kind === "integration" ? (row.fields.webhook as Block | null) : null;
    if (webhook === null || webhook === undefined || "accepted" in webhook) return [];
    const verify = webhook.verify as Block | null;
    const respond = webhook.respond as Block | null;
    const fields = {
      ...row.fields,
      webhook: {
        ...webhook,
        accepted: 202,
        verify: verify && { ...verify, token: null, basic: null },
        respond: respond && { ...respond, methods: ["POST"] },
      },
    };
    return [putRow(place, "resource", [row.kind, row.id], { ...row, fields })];
  }),
];
