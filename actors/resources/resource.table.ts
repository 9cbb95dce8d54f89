import { expected } from "../../storage/expected.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";

/**
 * A stored resource of any kind. `fields` are the fields of the kind's schema with defaults, without the write-only
 * fields. The write-only values are in `hidden`, sealed or hashed, and never part of a representation.
 */
export interface ResourceRow<Fields = Record<string, unknown>> {
  readonly id: string;
  readonly kind: string;
  readonly version: number;
  readonly workspaceId: string;
  /** The team that holds the resource, also through a station; otherwise null. */
  readonly teamId: string | null;
  readonly address: string;
  readonly fields: Fields;
  /** Write-only values by path (`value`, `signing.secret`, `token`): sealed text, or a SHA-256 hash in hex. */
  readonly hidden: Readonly<Record<string, string>>;
  /** Read-only fields that the kind adds, such as `issuedBy` and `issuedAt`. */
  readonly added: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Key: `[kind, id]`, in the workspace's partition. */
export const resources = table<ResourceRow>("resource");
/** Key: `[kind, address]`, in the workspace's partition. Value: the id. Sorted by address. */
export const resourceAddresses = table<string>("resource-address");

/** Number of addresses to read per page, to search all of them. */
const ADDRESS_PAGE = 200;

/** Finds the resource of this kind and id; undefined if there is none. */
export function findResource<Fields = Record<string, unknown>>(
  reading: Reading,
  workspaceId: string,
  kind: string,
  id: string,
): ResourceRow<Fields> | undefined {
  return resources.get(reading, workspaceId, kind, id) as ResourceRow<Fields> | undefined;
}

/** Returns the resource that an address or an index refers to by this id. Throws `damaged` if there is none. */
export function expectResource<Fields = Record<string, unknown>>(
  reading: Reading,
  workspaceId: string,
  kind: string,
  id: string,
): ResourceRow<Fields> {
  return expected(findResource<Fields>(reading, workspaceId, kind, id), resources.key(workspaceId, kind, id));
}

/**
 * Returns the address of an id whose row is lost. Returns undefined if the id has a row, or if the workspace's index
 * has no address for it. An address without a row is damage. An id that is only in the directory is not damage.
 */
export function findLostAddress(reading: Reading, workspaceId: string, kind: string, id: string): string | undefined {
  if (findResource(reading, workspaceId, kind, id) !== undefined) return undefined;
  for (const page of addressPages(reading, workspaceId, kind, { limit: ADDRESS_PAGE })) {
    const lost = page.find((place) => place.id === id);
    if (lost !== undefined) return lost.address;
  }
  return undefined;
}

/** Like {@link findResource}, but throws `damaged` if the workspace has an address but no row for the id. */
export function findKnownResource<Fields = Record<string, unknown>>(
  reading: Reading,
  workspaceId: string,
  kind: string,
  id: string,
): ResourceRow<Fields> | undefined {
  const isLost = findLostAddress(reading, workspaceId, kind, id) !== undefined;
  return (isLost ? expectResource : findResource)<Fields>(reading, workspaceId, kind, id);
}

/**
 * Finds the resource of this kind at an address; undefined if there is none. Throws `damaged` if the address is taken,
 * but the resource's row is missing.
 */
export function findResourceAt<Fields = Record<string, unknown>>(
  reading: Reading,
  workspaceId: string,
  kind: string,
  address: string,
): ResourceRow<Fields> | undefined {
  const id = resourceAddresses.get(reading, workspaceId, kind, address);
  return id === undefined ? undefined : expectResource<Fields>(reading, workspaceId, kind, id);
}

/** Whether the workspace exists and is not closed. */
export function isWorkspaceOpen(reading: Reading, workspaceId: string): boolean {
  return findResource(reading, workspaceId, "workspace", workspaceId) !== undefined;
}

/** Selects resources of a kind, in address order. */
export interface ResourcePage {
  /** Only resources whose address starts with this text and a slash. */
  readonly under?: string;
  /** Only resources after this address. */
  readonly after?: string;
  readonly limit?: number;
}

/**
 * Lists the resources of this kind in address order. Lists all of them unless `page` limits the list. Throws `damaged`
 * if an address has no row.
 */
export function listResources<Fields = Record<string, unknown>>(
  reading: Reading,
  workspaceId: string,
  kind: string,
  page: ResourcePage = {},
): ResourceRow<Fields>[] {
  return listAddresses(reading, workspaceId, kind, page).map(({ id }) =>
    expectResource<Fields>(reading, workspaceId, kind, id),
  );
}

/** A resource's address and id. */
interface ResourceAddress {
  readonly address: string;
  readonly id: string;
}

/**
 * Like {@link listResources}, but reads only the addresses. The range under a prefix ends before "0", the character
 * after "/".
 */
export function listAddresses(
  reading: Reading,
  workspaceId: string,
  kind: string,
  { under, after, limit }: ResourcePage,
): ResourceAddress[] {
  const from = after ?? (under === undefined ? undefined : `${under}/`);
  const entries = resourceAddresses.entries(reading, workspaceId, [kind], {
    ...(from === undefined ? {} : { after: [kind, from] }),
    ...(under === undefined ? {} : { before: [kind, `${under}0`] }),
    ...(limit === undefined ? {} : { limit }),
  });
  return entries.map(({ key, value }) => ({ address: String(key.at(-1)), id: value }));
}

/** Lists all addresses like {@link listAddresses}, in pages of `limit`. Reads each page when the caller asks for it. */
export function* addressPages(
  reading: Reading,
  workspaceId: string,
  kind: string,
  { limit, ...first }: ResourcePage & { readonly limit: number },
): Generator<readonly ResourceAddress[]> {
  for (let page: ResourcePage = { ...first, limit }; ; ) {
    const places = listAddresses(reading, workspaceId, kind, page);
    yield places;
    const last = places.at(-1);
    if (last === undefined || places.length < limit) return;
    page = { ...page, after: last.address };
  }
}
