import type { CommonOptions, Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import type { NamedWorkspace } from "../command/names.js";
import { pickResource } from "../command/pick-resource.js";
import { toLine } from "../command/printable.js";
import { readArgument } from "../command/read-input.js";
import { toTable } from "../command/table.js";
import type { Terminal } from "../command/terminal.js";
import { type ClaimResult, compareClaims, readToken, type Terms } from "./claims.js";

interface TryOptions extends CommonOptions {
  readonly trust?: string;
}

/** A token trust or a runner trust. */
interface Trust extends Terms {
  readonly id: string;
  readonly key: string;
  /** The kind of tokens that the trust gives. */
  readonly grants: "workspace tokens" | "pool tokens";
}

interface Comparison {
  readonly trust: Trust;
  readonly isAccepted: boolean;
  readonly claims: readonly ClaimResult[];
}

/**
 * Compares a token with the trusts of the workspace, claim by claim, on this machine: the token is not sent, printed or
 * stored. Returns the exit code: failed if no trust accepts the claims.
 */
export async function tryTrust(context: Context, options: TryOptions, given: string): Promise<ExitCode> {
  const { names, terminal } = context;
  const token = readToken((await readArgument(terminal, given)).trim());
  const workspace = await names.workspace();
  const trusts = await listTrusts(context, workspace);
  const nowMs = Date.now();
  const compared = chooseTrusts(trusts, { name: options.trust, workspace, issuer: token.claims.iss }).map((trust) => {
    const claims = compareClaims(token, trust, nowMs);
    return { trust, isAccepted: claims.every(({ matches }) => matches !== false), claims };
  });
  const items = compared.map(({ trust: { id, key, grants }, isAccepted, claims }) => ({
    trust: id,
    key,
    grants,
    isAccepted,
    claims,
  }));
  context.show({ items, isSignatureChecked: false }, () =>
    compared.flatMap((one, index) => [...(index === 0 ? [] : [""]), ...describe(terminal, one)]),
  );
  terminal.note("the signature was not checked: only the service can check it, at the exchange");
  return compared.some(({ isAccepted }) => isAccepted) ? exitCodes.done : exitCodes.failed;
}

async function listTrusts({ client, signal }: Context, workspace: NamedWorkspace): Promise<readonly Trust[]> {
  const options = { path: { workspaceId: workspace.id }, signal };
  const [forTokens, forPools] = await Promise.all([
    client.get("/api/resources/workspaces/{workspaceId}/token-trusts", options),
    client.get("/api/resources/workspaces/{workspaceId}/runner-trusts", options),
  ]);
  return [
    ...forTokens.items.map((trust) => ({ ...trust, grants: "workspace tokens" as const })),
    ...forPools.items.map((trust) => ({ ...trust, grants: "pool tokens" as const })),
  ];
}

/**
 * Returns the named trust. Without a name, returns the trusts with the token's issuer, or all trusts if none has this
 * issuer.
 */
function chooseTrusts(
  trusts: readonly Trust[],
  of: { readonly name: string | undefined; readonly workspace: NamedWorkspace; readonly issuer: unknown },
): readonly Trust[] {
  const where = `the workspace ${of.workspace.slug}`;
  if (of.name !== undefined) return [pickResource({ what: "trust", where, key: ({ key }) => key }, trusts, of.name)];
  if (trusts.length === 0) throw new CommandError(`${where} has no trusts`);
  const same = trusts.filter(({ issuer }) => issuer === of.issuer);
  return same.length === 0 ? trusts : same;
}

function describe(terminal: Terminal, { trust, isAccepted, claims }: Comparison): readonly string[] {
  const wrong = claims.filter(({ matches }) => matches === false).map(({ claim }) => claim);
  const name = `trust ${trust.key} (${trust.id}, for ${trust.grants})`;
  return [
    isAccepted
      ? terminal.paint("green", `${name} accepts the claims`)
      : terminal.paint("red", toLine(`${name} rejects the token: ${wrong.join(", ")}`)),
    ...toTable(
      terminal,
      [
        { title: "claim", of: ({ claim }: ClaimResult) => claim, isFlexible: true },
        { title: "matches", of: ({ matches }) => (matches === null ? "not checked" : matches ? "yes" : "no") },
        { title: "expected", of: ({ wanted }) => wanted, isFlexible: true },
        { title: "actual", of: ({ came }) => came, isFlexible: true },
      ],
      claims,
    ),
  ];
}
