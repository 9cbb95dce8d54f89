import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Test } from "tap";
import type { Claims, TestIssuer } from "../../../support/issuer.js";
import { job, toEnvironment } from "./workflow-file.js";

export interface StepsRan {
  /** The exit code of the last step that ran; null if a signal ended the step. */
  readonly code: number | null;
  readonly out: string;
  /** The job's summary page. */
  readonly page: string;
}

export interface CiMachine {
  /** Runs the shell steps of the workflow's job, until one fails. */
  run(attempt: number): Promise<StepsRan>;
  /** The OIDC tokens issued to the job. */
  readonly given: readonly string[];
  /** The job's credential for requesting OIDC tokens. */
  readonly requestToken: string;
}

export interface CiMachineOptions {
  readonly issuer: TestIssuer;
  readonly claims: Claims;
  /** The repository's `vars`, except the package's location. */
  readonly variables: Readonly<Record<string, string>>;
  /** Files in the checkout. */
  readonly files: Readonly<Record<string, string>>;
  readonly pullRequest: { readonly number: number; readonly sha: string };
}

/**
 * Simulates the machine of a GitHub job: the checkout's files, the environment, an issuer's OIDC tokens, the system's
 * programs, node and npm. Its npm has no network and links the local build. `test/http/cli/package.test.ts` shows that
 * the package contains the whole command.
 */
export async function startCiMachine(t: Test, options: CiMachineOptions): Promise<CiMachine> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-ci-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const checkout = join(folder, "checkout");
  for (const [path, text] of Object.entries(options.files)) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), text);
  }
  const requestToken = "request-token-of-the-job";
  const given: string[] = [];
  const tokens = await serveTokens(t, { ...options, requestToken, given });
  const { number, sha } = options.pullRequest;
  writeFileSync(join(folder, "event.json"), JSON.stringify({ pull_request: { number, head: { sha } } }));
  const vars = { ...options.variables, SIGNALBOX_PACKAGE: process.cwd() };
  const bin = installableNpm(folder);
  return {
    given,
    requestToken,
    async run(attempt) {
      const page = join(folder, `summary-${attempt}.md`);
      const env = {
        ...toEnvironment({ vars }),
        PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
        HOME: folder,
        GITHUB_ACTIONS: "true",
        GITHUB_EVENT_PATH: join(folder, "event.json"),
        GITHUB_SHA: "0".repeat(40),
        GITHUB_STEP_SUMMARY: page,
        GITHUB_RUN_ID: "4711",
        GITHUB_RUN_ATTEMPT: String(attempt),
        ACTIONS_ID_TOKEN_REQUEST_URL: `${tokens}?api-version=2.0`,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken,
      };
      let ran = { code: null as number | null, out: "" };
      for (const { run } of job.steps) {
        if (run === undefined) continue;
        const step = await runStep(t, run, { cwd: checkout, env });
        ran = { code: step.code, out: ran.out + step.out };
        if (step.code !== 0) break;
      }
      return { ...ran, page: readFileSync(page, "utf8") };
    },
  };
}

/** Runs a step in a shell, as GitHub does. Returns the step's exit code and the output of both streams. */
function runStep(
  t: Test,
  script: string,
  options: { readonly cwd: string; readonly env: Record<string, string> },
): Promise<{ readonly code: number | null; readonly out: string }> {
  return new Promise((done) => {
    const child = spawn("bash", ["-e", "-c", script], options);
    t.teardown(() => void child.kill("SIGKILL"));
    let out = "";
    const gather = (chunk: Buffer) => {
      out += chunk.toString();
    };
    child.stdout.on("data", gather);
    child.stderr.on("data", gather);
    child.once("close", (code) => done({ code, out }));
  });
}

/** Serves the job's tokens; returns the address. */
async function serveTokens(
  t: Test,
  {
    issuer,
    claims,
    requestToken,
    given,
  }: CiMachineOptions & { readonly requestToken: string; readonly given: string[] },
): Promise<string> {
  const server = createServer((request, response) => {
    const audience = new URL(request.url ?? "", "http://x").searchParams.get("audience");
    if (request.headers.authorization !== `Bearer ${requestToken}`) return void response.writeHead(401).end();
    void issuer.token({ ...claims, aud: audience }).then((value) => {
      given.push(value);
      response.end(JSON.stringify({ count: value.length, value }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/token`;
}

/**
 * Creates a folder with a fake `npm`, and returns the folder. `npm install --global` only links the command of the
 * given package folder.
 */
function installableNpm(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const script = `#!/usr/bin/env bash
set -eu
[[ "$1 $2" == "install --global" ]]
ln -sf "\${@: -1}/http/cli/signalbox.mjs" "${bin}/signalbox"
`;
  writeFileSync(join(bin, "npm"), script, { mode: 0o755 });
  return bin;
}
