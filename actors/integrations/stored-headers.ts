import { LRUCache } from "lru-cache";

/** Matches names of headers that hold, or may hold, a credential or signature. */
const CREDENTIAL =
  /authorization|cookie|signature|token|secret|password|credential|(^|-)auth(-|$)|(api|access|auth|webhook|private|shared)-?key/i;
/** Caches whether a header name matches, because senders repeat the same headers. */
const knownNames = new LRUCache<string, boolean>({ max: 1_000 });

function isCredential(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const is = CREDENTIAL.test(name);
  knownNames.set(name, is);
  return is;
}

/**
 * Returns the headers to store: without credentials, signatures, and the header `signed`. The names in `headers` must
 * be in lower case; `signed` can be in any case.
 */
export function toStorableHeaders(
  headers: Iterable<readonly [name: string, value: string]>,
  signed: string | null = null,
): Record<string, string> {
  const signature = signed?.toLowerCase();
  const stored: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (name === signature || isCredential(name)) continue;
    // A plain assignment to this name would set the prototype.
    if (name === "__proto__") Object.defineProperty(stored, name, { value, enumerable: true });
    else stored[name] = value;
  }
  return stored;
}
