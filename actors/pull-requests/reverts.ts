/** What a text says of reverts: numbers of pull requests of the repository, and commits. */
export interface Reverted {
  readonly numbers: readonly number[];
  readonly commits: readonly string[];
}

/** Most reverts that one text names. */
const MAX_REVERTS = 20;

/**
 * The reverts that the text of a pull request names: "Reverts owner/name#n", "This reverts commit <commit>". `formerNames`
 * are those that the repository had before, in lower case.
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
