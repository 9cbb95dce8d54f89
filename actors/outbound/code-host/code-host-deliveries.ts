import { z } from "zod";
import { expectStatus, ON_PAGE, type RepositoryCallParts } from "./code-host-repository.js";
import { type CodeHostAnswer, isRefusedWith, readAs } from "./code-host-requests.js";

/** The code host's log of webhook deliveries to this service. */
export interface CodeHostDeliveries {
  /** Lists delivery attempts, newest first, with the cursor of the next page. */
  listDeliveries(
    cursor: string | null,
  ): Promise<{ readonly ids: readonly SentDelivery[]; readonly next: string | null }>;
  redeliver(id: string): Promise<void>;
}

/** One attempt to deliver an event. */
export interface SentDelivery {
  readonly id: string;
  /** Identifies the delivery; all its attempts have the same value. */
  readonly guid: string;
  readonly atMs: number;
  readonly hasFailed: boolean;
}

export function deliveryMethods(parts: RepositoryCallParts): CodeHostDeliveries {
  return {
    listDeliveries: (cursor) => listDeliveries(parts, cursor),
    async redeliver(id) {
      const answer = await askAsApp(parts, "a delivery again", { method: "POST", path: `/${id}/attempts` });
      if (answer.status !== 202) throw isRefusedWith(parts.name, answer.status);
    },
  };
}

async function listDeliveries(
  parts: RepositoryCallParts,
  cursor: string | null,
): ReturnType<CodeHostDeliveries["listDeliveries"]> {
  const more = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
  const answer = await askAsApp(parts, "deliveries", { path: `?per_page=${ON_PAGE}${more}` });
  const found = readAs(parts.name, deliveriesSchema, expectStatus(parts.name, answer, 200));
  const ids = found.map(({ id, guid, delivered_at, status_code }) => ({
    id: String(id),
    guid,
    atMs: Date.parse(delivered_at),
    hasFailed: status_code < 200 || status_code >= 300,
  }));
  return { ids, next: answer.next };
}

async function askAsApp(
  { ask, apiUrl, appToken }: RepositoryCallParts,
  what: string,
  { method, path }: { readonly method?: "POST"; readonly path: string },
): Promise<CodeHostAnswer> {
  const authorization = `Bearer ${await appToken()}`;
  return ask({
    what,
    url: `${apiUrl}/app/hook/deliveries${path}`,
    authorization,
    ...(method !== undefined && { method }),
  });
}

const deliveriesSchema = z.array(
  z.object({
    // Some ids exceed 2^53.
    id: z.union([z.int(), z.bigint(), z.string().regex(/^\d+$/)]),
    guid: z.string().max(100),
    delivered_at: z.iso.datetime({ offset: true }),
    status_code: z.int(),
  }),
);
