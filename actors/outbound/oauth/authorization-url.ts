/** The parameters of an authorization request (RFC 6749, 4.1.1) with PKCE (RFC 7636). */
export interface AuthorizationParameters {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
  /** The PKCE challenge, method S256. */
  readonly challenge: string;
  readonly scopes?: readonly string[];
  /** Further parameters that the host accepts. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** Returns the address that a person is sent to. Replaces parameters of the same name in `authorizeUrl`. */
export function authorizationUrl(
  authorizeUrl: string,
  { clientId, redirectUri, state, challenge, scopes = [], parameters = {} }: AuthorizationParameters,
): string {
  const url = new URL(authorizeUrl);
  const all: Readonly<Record<string, string>> = {
    ...parameters,
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    code_challenge: challenge,
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
  return url.href;
}
