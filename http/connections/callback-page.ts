import { pageOf } from "../access/page.js";

/** Takes what the host said out of the address, brings it to the service once, and tells what came of it. */
const script = `
const says = document.querySelector("p");
const given = new URLSearchParams(location.search);
history.replaceState(null, "", location.pathname);

async function bring() {
  const body = {};
  for (const name of ["state", "code", "iss", "error"]) {
    const value = given.get(name);
    if (value !== null) body[name] = value;
  }
  const answer = await fetch("/api/oauth/callback", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (answer.status === 401) {
    says.textContent = "You are not signed in here any more. Sign in and connect the account again.";
    return;
  }
  const told = await answer.json();
  if (!answer.ok) {
    says.textContent = told.detail;
    return;
  }
  const account = told.account === null ? "The account" : "The account " + told.account;
  says.textContent = account + " is connected. You can close this page.";
}

bring().catch(() => {
  says.textContent = "The service cannot be reached. Connect the account again.";
});
`;

/** The page that a host sends people back to. */
export const callbackPage = pageOf({
  title: "Connect an account",
  body: "<p>Connecting the account…</p>",
  script,
});
