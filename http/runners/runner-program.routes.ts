import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { cacheableAnswers, serveCached } from "../wire/cached-answer.js";
import { type Route, route } from "../wire/route.js";

/** The runner program as one file, which the build creates. */
const PROGRAM = new URL("../../bundle/runner.mjs", import.meta.url);

/**
 * The routes that serve the runner program, so that a machine needs only Node and git to run a runner. The program has
 * the same release as the service.
 */
export function runnerProgramRoutes(): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/runner.mjs",
      summary: "Download the runner",
      description:
        "The runner of this release as one file. Run it with `node runner.mjs --help`. It needs Node 20.15 or later, and git.",
      access: "public",
      answers: cacheableAnswers({
        body: null,
        text: "text/javascript",
        headers: { "service-sha256": "The SHA-256 of the file in hex." },
      }),
      handle: serveCached(async () => {
        const content = await readFile(PROGRAM);
        return {
          type: "text/javascript; charset=utf-8",
          content,
          headers: { "service-sha256": sha256(content) },
        };
      }),
    }),
    route({
      method: "GET",
      path: "/runner.mjs.sha256",
      summary: "Get the SHA-256 of the runner",
      description: "One line, as `sha256sum --check` reads it.",
      access: "public",
      answers: cacheableAnswers({ body: null, text: "text/plain" }),
      handle: serveCached(async () => ({
        type: "text/plain; charset=utf-8",
        content: `${sha256(await readFile(PROGRAM))}  runner.mjs\n`,
      })),
    }),
  ];
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
