import { createHash } from "node:crypto";
import type { Answer } from "../wire/route.js";

const style =
  "body{font:16px system-ui;max-width:30rem;margin:15vh auto;padding:0 1rem}button,input{font:inherit;padding:.5rem 1rem;margin-right:.5rem}p{white-space:pre-wrap;overflow-wrap:anywhere}";

const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export interface PageParts {
  readonly title: string;
  /**
   * HTML that comes only from the service's source code. The page's script inserts user-written text as plain text,
   * never as HTML.
   */
  readonly body: string;
  readonly script: string;
}

/** Creates a page that runs only its own script and sends no request to another host. */
export function toPage({ title, body, script }: PageParts): () => Answer {
  const content = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>${style}</style></head>
<body><h1>Signalbox</h1>${body}<script>${script}</script></body>
</html>
`;
  const policy = [
    "default-src 'none'",
    "connect-src 'self'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return () => ({
    status: 200,
    text: { type: "text/html; charset=utf-8", content },
    headers: { "content-security-policy": policy },
  });
}
