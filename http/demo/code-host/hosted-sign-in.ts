import { createHash, randomBytes } from "node:crypto";
import type { HostedAccount } from "./hosted-account.js";
import type { SecretLog } from "./hosted-app.js";
import type { HostedReply } from "./hosted-reply.js";

interface Grant {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly person: HostedAccount;
}

const CLIENT = { id: "Iv1.8a61f9b3a7aba766", secret: `client-${randomBytes(16).toString("hex")}` };

/** Signs people in at the code host, and answers requests with their tokens. */
export class HostedSignIn {
  /** Memberships in organizations, by `<organization>/<login>`. */
  readonly memberships = new Map<string, { readonly state: string; readonly role: string }>();
  /** The account that signs in if the browser does not name one; null at first. */
  readonly browser: { person: HostedAccount | null } = { person: null };
  readonly #secrets: SecretLog;
  readonly #accountOf: (login: string) => HostedAccount | undefined;
  readonly #codes = new Map<string, Grant>();
  readonly #people = new Map<string, HostedAccount>();

  /** `findAccount` finds an organization by its name. */
  constructor(secrets: SecretLog, findAccount: (login: string) => HostedAccount | undefined) {
    this.#secrets = secrets;
    this.#accountOf = findAccount;
  }

  /** The service's settings for the sign-in. */
  get settings(): Readonly<Record<string, string>> {
    return { CODE_HOST_CLIENT_ID: CLIENT.id, CODE_HOST_CLIENT_SECRET: CLIENT.secret };
  }

  /**
   * Redirects a browser back to the service. `visitor` is the account that the browser names; null if it names none.
   */
  authorize(query: URLSearchParams, visitor: HostedAccount | null): HostedReply {
    const person = visitor ?? this.browser.person;
    const { client_id, redirect_uri = "", state = "", code_challenge = "" } = Object.fromEntries(query);
    if (client_id !== CLIENT.id || person === null) return { status: 404, json: {} };
    if (query.get("code_challenge_method") !== "S256") return { status: 422, json: {} };
    const code = this.#secrets.draw("code");
    this.#codes.set(code, { challenge: code_challenge, redirectUri: redirect_uri, person });
    const back = new URL(redirect_uri);
    back.search = new URLSearchParams({ code, state }).toString();
    return { status: 302, json: {}, headers: { location: back.href } };
  }

  /** Exchanges a code for a token; each code is valid once. */
  exchange(form: URLSearchParams): HostedReply {
    const { client_id, client_secret, code = "", redirect_uri, code_verifier = "" } = Object.fromEntries(form);
    const grant = this.#codes.get(code);
    this.#codes.delete(code);
    this.#secrets.saw(code_verifier);
    if (client_id !== CLIENT.id || client_secret !== CLIENT.secret) {
      return { status: 200, json: { error: "incorrect_client_credentials", error_description: code } };
    }
    const challenge = createHash("sha256").update(code_verifier).digest("base64url");
    if (grant?.challenge !== challenge || grant.redirectUri !== redirect_uri) {
      return { status: 200, json: { error: "bad_verification_code", error_description: code } };
    }
    const token = this.#secrets.draw("ghu");
    this.#people.set(token, grant.person);
    return { status: 200, json: { access_token: token, token_type: "bearer", scope: "" } };
  }

  /** Answers a request to `/user…`. */
  answer(bearer: string, path: string): HostedReply {
    const person = this.#people.get(bearer);
    if (person === undefined) return { status: 401, json: { message: "Bad credentials" } };
    if (path === "/user") return { status: 200, json: person };
    const organization = decodeURIComponent(path.split("/").at(-1) ?? "");
    const membership = this.memberships.get(`${organization}/${person.login}`);
    if (membership === undefined) return { status: 404, json: { message: "Not Found" } };
    return { status: 200, json: { ...membership, organization: this.#accountOf(organization), user: person } };
  }
}
