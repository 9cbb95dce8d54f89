/**
 * Patterns of a trust: one string, in which `*` matches any characters, including colons (configuration API,
 * Workspace token trust).
 */

/** Whether the pattern matches the whole of `text`. Takes time in proportion to both lengths, for any input. */
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

/** Whether a subject pattern with a `*` names an owner before it; one without `*` names everything. */
export function namesOwner(subject: string): boolean {
  const star = subject.indexOf("*");
  return star === -1 || subject.slice(0, star).includes("/");
}

const WITH_ID = /@\d+$/;

/**
 * Why a pattern for a code host's subjects cannot match, as a sentence; null for one that is not for a code host.
 * Subjects of code hosts have two forms, with names alone (`repo:acme/app:…`) or with immutable ids in them
 * (`repo:acme@123/app@456:…`); the owner comes before the first `*`, so a pattern fits one of them at most.
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
