import { eachRow, putRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";

/** The parts of a resource that this migration step reads. */
interface StoredResource {
  readonly kind: string;
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

type Block = Readonly<Record<string, unknown>>;

/** Adds the fields for authentication and responses to stored webhooks, with their default values. */
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
