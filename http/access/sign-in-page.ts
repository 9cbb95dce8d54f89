import { createHash } from "node:crypto";
import type { Answer } from "../route.js";

/** The token is only read from the address by the page itself, once the person presses the button: link checkers that
 * open every link in a mail use none up. */
const script = `
document.querySelector("button").addEventListener("click", async () => {
  const token = location.pathname.split("/").pop();
  const answer = await fetch("/api/sessions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  history.replaceState(null, "", "/sign-in/done");
  document.querySelector("p").textContent = answer.ok
    ? "You are signed in."
    : "This link is used up or too old. Ask for a new one.";
  document.querySelector("button").remove();
});`;

const style =
  "body{font:16px system-ui;max-width:30rem;margin:15vh auto;padding:0 1rem}button{font:inherit;padding:.5rem 1rem}";

const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign in to Signalbox</title>
<style>${style}</style></head>
<body><h1>Signalbox</h1><p>Sign in on this device?</p><button>Sign in</button><script>${script}</script></body>
</html>
`;

const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const policy = [
  "default-src 'none'",
  "connect-src 'self'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "frame-ancestors 'none'",
].join("; ");

/** The page behind a sign-in link; it asks no other host for anything. */
export function signInPage(): Answer {
  return {
    status: 200,
    text: { type: "text/html; charset=utf-8", content: page },
    headers: { "content-security-policy": policy },
  };
}
