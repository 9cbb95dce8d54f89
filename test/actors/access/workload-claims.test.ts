import { CompactSign, createLocalJWKSet, exportJWK, generateKeyPair } from "jose";
import t from "tap";
import { createWorkloadVerifier } from "../../../actors/access/tokens/workload-token.js";

t.test("people see all digits of a claim that does not match", async (t) => {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: "one" }] });
  const now = 1_800_000_000;
  const verifier = createWorkloadVerifier({
    keys: { toKey: () => keys, renew: async () => false },
    now: () => now * 1_000,
  });
  const terms = {
    issuer: "https://ci.example.com",
    audience: "service",
    subject: "*",
    claims: { run: "7" },
  };
  for (const digits of ["9007199254740993", "-9007199254740993", "18446744073709551617", "-18446744073709551617"]) {
    const claims = `{"iss":"${terms.issuer}","aud":"service","sub":"x","exp":${now + 60},"run":${digits}}`;
    const token = await new CompactSign(Buffer.from(claims))
      .setProtectedHeader({ alg: "ES256", kid: "one" })
      .sign(privateKey);
    const verdict = await verifier.verify(token, terms, "ws_1");
    t.same(verdict, { admits: false, check: "claims.run", wanted: "7", came: digits, verified: true });
  }
});
