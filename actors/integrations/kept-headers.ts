/** Names of headers that hold, or may hold, a credential or signature. */
const CREDENTIAL =
  /authorization|cookie|signature|token|secret|password|credential|(^|-)auth(-|$)|(api|access|auth|webhook|private|shared)-?key/i;
/** Whether a name is one of these, by the names seen so far: senders repeat the same headers. */
let knownNames = new Map<string, boolean>();
const MAX_KNOWN_NAMES = 1_000;

function isCredential(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const is = CREDENTIAL.test(name);
  if (knownNames.size >= MAX_KNOWN_NAMES) knownNames = new Map();
  knownNames.set(name, is);
  return is;
}

/**
 * The received headers that are stored, by lower-case name: without credentials and signatures, and without the header
 * `signed`, whatever its case.
 */
export function toKeptHeaders(
  headers: Iterable<readonly [name: string, value: string]>,
  signed: string | null = null,
): Record<string, string> {
  const signature = signed?.toLowerCase();
  const kept: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (name === signature || isCredential(name)) continue;
    // Assigned to, this one name would set the prototype.
    if (name === "__proto__") Object.defineProperty(kept, name, { value, enumerable: true });
    else kept[name] = value;
  }
  return kept;
}
