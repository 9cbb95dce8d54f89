/** The reverts that a text names: pull request numbers of the repository, and commits. */
export interface Reverted {
  readonly numbers: readonly number[];
  readonly commits: readonly string[];
}

/** Maximum number of reverts in one text, for numbers and for commits. */
const MAX_REVERTS = 20;

/**
 * Finds the reverts in a pull request's text: "Reverts owner/name#n", "This reverts commit <commit>". `formerNames` are
 * the repository's former names, in lower case.
 */
export function findReverts(text: string, repository: string, formerNames: readonly string[] = []): Reverted {
  const names = [repository.toLowerCase(), ...formerNames];
  const named = [...text.matchAll(/\bReverts ([\w.-]+\/[\w.-]+)?#(\d{1,10})\b/g)].filter(
    ([, of]) => of === undefined || names.includes(of.toLowerCase()),
  );
  const commits = [...text.matchAll(/\bThis reverts commit ([0-9a-f]{40,64})\b/g)];
  return {
    numbers: named.map(([, , number]) => Number(number)).slice(0, MAX_REVERTS),
    commits: commits.map(([, commit = ""]) => commit).slice(0, MAX_REVERTS),
  };
}
