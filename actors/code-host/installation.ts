/** Identifies an installation by the name of its code host and its number there. */
export interface InstallationKey {
  /** The host name that people use for the code host, such as `github.com`. */
  readonly host: string;
  readonly installationId: number;
}

/** Returns the actor id of an installation's connection to a workspace. */
export function toActorId({ host, installationId }: InstallationKey): string {
  return `${installationId}@${host}`;
}

/** Parses the installation from a connection's actor id. */
export function parseActorId(actorId: string): InstallationKey {
  const [number = "", host = ""] = actorId.split("@");
  return { host, installationId: Number(number) };
}
