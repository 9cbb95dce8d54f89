/**
 * The patterns of a trust. A pattern is one string in which `*` matches any number of characters, including colons
 * (configuration API, Workspace token trust).
 */

/**
 * Returns whether the pattern matches the complete `text`. The running time is bounded by the product of both lengths,
 * for any input.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/**
 * Returns whether a subject pattern has a `/` before its first `*`, so that the pattern contains the complete owner.
 * True for a pattern without a `*`.
 */
export function namesOwner(subject: string): boolean {
  const star = subject.indexOf("*");
  return star === -1 || subject.slice(0, star).includes("/");
}

const WITH_ID = /@\d+$/;

/**
 * Returns a clause that says which of a code host's subjects the pattern cannot match. Null if the pattern does not
 * begin with `repo:<owner>/`.
 *
 * Code hosts use one of two subject forms: with names only (`repo:acme/app:…`), or with immutable ids
 * (`repo:acme@123/app@456:…`). A pattern that contains the owner can match at most one of the forms.
 */
export function unmatchedForm(subject: string): string | null {
  const parts = /^repo:([^/:*]+)\/([^/:*]*)(\*?)/.exec(subject);
  if (parts === null) return null;
  const [, owner = "", repository = "", star] = parts;
  const isOpen = star === "*" || repository === "";
  const ownerHasId = WITH_ID.test(owner);
  const repositoryName = isOpen ? "<repository>" : repository.replace(WITH_ID, "");
  const name = owner.replace(WITH_ID, "");
  const byName = `repo:${name}/${repositoryName}:…`;
  const byId = `repo:${name}@<owner id>/${repositoryName}@<repository id>:…`;
  if (!isOpen && ownerHasId !== WITH_ID.test(repository)) {
    return `matches no subject of a code host: those are ${byName} or ${byId}`;
  }
  return ownerHasId
    ? `matches only subjects that hold ids; a code host that sends names alone sends ${byName}, which needs a trust of its own`
    : `matches only subjects of names alone; a code host that puts immutable ids into its subjects sends ${byId}, which needs a trust of its own`;
}
