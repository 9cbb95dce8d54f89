import { pageOf } from "./page.js";

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

/** The page behind a sign-in link; it asks no other host for anything. */
export const signInPage = pageOf({
  title: "Sign in to Signalbox",
  body: "<p>Sign in on this device?</p><button>Sign in</button>",
  script,
});
