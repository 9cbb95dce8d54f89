import type { CommandCase, CommandScene } from "../../../support/command-cases.js";
import { listItems } from "../../../support/resources.js";

/** Returns a token that the scene's trust `ci` would accept if its signature were valid. */
async function toToken({ person, workspaceId }: CommandScene): Promise<string> {
  const [trust] = listItems(await person.request("GET", `/api/resources/workspaces/${workspaceId}/token-trusts`));
  const exp = Math.floor(Date.now() / 1_000) + 300;
  const claims = {
    iss: trust?.issuer,
    aud: "service",
    sub: "repo:acme/app:ref:refs/heads/main",
    exp,
    environment: "prod-eu",
  };
  const toPart = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${toPart({ alg: "ES256" })}.${toPart(claims)}.c2lnbmF0dXJl`;
}

export const trustCases: readonly CommandCase[] = [
  {
    name: "trust try",
    args: async (scene) => [await toToken(scene), "--trust", "ci"],
    prints:
      /^trust ci \(trust_\S+, for workspace tokens\) accepts the claims\nCLAIM +MATCHES +EXPECTED +ACTUAL\nalg +yes [\s\S]*\nsub +yes +repo:acme\/app:\* +repo:acme\/app:ref:refs\/heads\/main\n/,
    json: { items: [{ key: "ci", isAccepted: true }], isSignatureChecked: false },
    wrong: [],
  },
];
