/** An installation, by the name of its code host and its number there. */
export interface InstallationKey {
  /** The host name that people use for the code host, such as `github.com`. */
  readonly host: string;
  readonly installationId: number;
}

/** The id of the actor of an installation's connection to a workspace. */
export function toActorId({ host, installationId }: InstallationKey): string {
  return `${installationId}@${host}`;
}

/** The installation that a connection's actor is about. */
export function parseActorId(actorId: string): InstallationKey {
  const [number = "", host = ""] = actorId.split("@");
  return { host, installationId: Number(number) };
}
