import { toPage } from "../access/page.js";

/** Reads the offer and the session, and shows the next step. The script inserts names as text, never as HTML. */
const script = `
const token = location.pathname.split("/").pop();
const says = document.querySelector("p");
const button = document.querySelector("button");
let isWaiting = false;

function show(text, label, act) {
  says.textContent = text;
  button.hidden = label === undefined;
  button.disabled = false;
  button.textContent = label ?? "";
  button.onclick = act === undefined ? null : async () => {
    button.disabled = true;
    try {
      await act();
    } catch {
      show("The service cannot be reached. Reload the page to try again.");
    }
  };
}

function send(method, path, body) {
  const sent = body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return fetch(path, { method, ...sent });
}

async function begin() {
  isWaiting = false;
  const answer = await send("GET", "/api/invites/" + token);
  if (!answer.ok) return show("This link leads nowhere: it was revoked or replaced, or it is not whole.");
  const offer = await answer.json();
  if (offer.state === "accepted") return show("This invite was accepted already.");
  if (offer.state === "expired") return show("This invite has expired. Ask for a new one.");
  const teams = offer.teams.length === 0 ? "" : " and the teams " + offer.teams.join(", ");
  const what = offer.invitedBy + " invites you to the workspace " + offer.workspace.name + teams + " as " +
    (offer.role === "admin" ? "an admin" : "a member") + ".";
  const who = await send("GET", "/api/sessions/me");
  const me = who.ok ? await who.json() : null;
  if (me === null) {
    return show(what + " Sign in as " + offer.email + " to accept.", "Send me a sign-in link", async () => {
      const asked = await send("POST", "/api/sign-in", { email: offer.email });
      if (!asked.ok) return show((await asked.json()).detail);
      isWaiting = true;
      show("A sign-in link is on its way to " + offer.email + ". Open it in this browser, then come back to this page.");
    });
  }
  if (me.email !== offer.email) {
    return show(what + " It is for " + offer.email + "; you are signed in as " + me.email + ".", "Sign out", async () => {
      await send("DELETE", "/api/sessions");
      await begin();
    });
  }
  show(what, "Accept", async () => {
    const accepted = await send("POST", "/api/invites/" + token + "/accept", {});
    const body = await accepted.json();
    show(accepted.ok ? "You are in the workspace " + body.workspace.name + "." : body.detail);
  });
}

document.addEventListener("visibilitychange", () => {
  if (isWaiting && !document.hidden) begin();
});
begin().catch(() => show("The service cannot be reached. Reload the page to try again."));`;

/**
 * The page that an invite link opens. The person signs in if needed, then accepts. Opening the page does not accept the
 * invite.
 */
export const invitePage = toPage({
  title: "Invite to Signalbox",
  body: "<p>One moment …</p><button hidden></button><noscript>This page needs JavaScript.</noscript>",
  script,
});
