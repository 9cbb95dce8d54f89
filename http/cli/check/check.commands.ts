import type { CommandTree } from "../command/define-command.js";
import { exitCodes } from "../command/exit-codes.js";
import { declareCheck } from "./command-line.js";

const DETAILS = `Ends with 0 when the change passed or there is nothing to replay, 1 when it
failed, 2 while undecided, 3 when it could not be asked. For several stations, the
worst result counts: 1, then 3, then 2. After SIGINT it ends with 130, after
SIGTERM with 143; the checks continue at the service.

Without --url, a token and a trust, it uses your sign-in (signalbox login), and the
workspace and team of this folder (signalbox use).

In a job of GitHub Actions with the permission id-token: write, --trust is
enough; elsewhere --trust-token-file names the file with the platform's token.
In a clone, npm run check -- runs signalbox check.`;

/** Adds `check`. */
export function addCheckCommand(tree: CommandTree): void {
  tree.add({
    usage: "check",
    summary: "replay past runs with a planned change, and fail if it does worse",
    details: DETAILS,
    example: `signalbox check --line core/dev station.json
  terraform show -json plan.bin | signalbox check --url https://signalbox.example --trust <id> -`,
    isLocal: true,
    handlesSignals: true,
    // Wrong arguments must not end with exit code 1, because 1 means that the change failed.
    usageCode: exitCodes["no-service"],
    declare: declareCheck,
    load: async () => (await import("./check.js")).check,
  });
}
