import { pageOf } from "../access/page.js";

/** Sends the code host's parameters to the service and shows the result as text. */
const script = `
const given = new URLSearchParams(location.search);
const says = document.querySelector("p");
// Neither the code nor the state is to stay in the address or in the history.
history.replaceState(null, "", location.pathname);

async function tell() {
  const state = given.get("state");
  const code = given.get("code");
  if (state === null) {
    const number = given.get("installation_id");
    const which = number === null ? "" : " Its number is " + number + ".";
    return "Nothing was begun here: connect the installation from a workspace." + which;
  }
  const what = code === null ? { error: given.get("error") ?? "no code came" } : { code };
  const answer = await fetch("/api/code-host/confirmations", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ state, ...what }),
  });
  const body = await answer.json();
  if (!answer.ok) return body.detail;
  const { account, host, state: now } = body;
  const also = now === "suspended" ? " It is suspended there." : "";
  return "The installation of " + account.login + " on " + host + " is connected." + also + " You can close this page.";
}

tell()
  .catch(() => "The service cannot be reached. Connect the installation again.")
  .then((text) => {
    says.textContent = text;
  });`;

/** The page that the code host redirects people back to. */
export const callbackPage = pageOf({
  title: "Connecting to Signalbox",
  body: "<p>One moment …</p><noscript>This page needs JavaScript.</noscript>",
  script,
});
