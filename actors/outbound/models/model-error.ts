import { parseJson } from "../http/json-answer.js";

/** Maximum number of error objects to inspect. */
const MAX_LOOKED_AT = 20;

type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the error code of a refusal if it is a plain word; otherwise null. Other texts of an error are never shown or
 * logged.
 */
export function readErrorCode(body: string): string | null {
  const { error } = toMembers(parseJson(body));
  const { code } = toMembers(error);
  return typeof code === "string" && /^[a-z_]{1,64}$/.test(code) ? code : null;
}

/**
 * Returns the HTTP status for an error inside an answer with status 200. This is the error's code if that is a status
 * of 400 or above, otherwise the status for a known word such as `invalid_request_error`. Null if the error has
 * neither. `errors` are the objects that may contain the code, innermost first.
 */
export function readErrorStatus(errors: readonly unknown[]): number | null {
  const codes = errors.slice(0, MAX_LOOKED_AT).flatMap((error) => {
    const { code, status, status_code: statusCode, http_code: httpCode, type } = toMembers(error);
    return [code, status, statusCode, httpCode, type];
  });
  const statuses = codes.flatMap((code) => toStatus(code) ?? []);
  const words = codes.flatMap((code) => (typeof code === "string" ? (statusOfWord(code) ?? []) : []));
  return statuses[0] ?? words[0] ?? null;
}

/** Returns a code that is an HTTP error status, as a number or as digits; otherwise null. */
function toStatus(code: unknown): number | null {
  const isDigits = typeof code === "number" || (typeof code === "string" && /^\d{3}$/.test(code));
  const status = isDigits ? Number(code) : 0;
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : null;
}

/**
 * The HTTP status for known error words: temporary errors first, then permanent ones. A word that matches several
 * patterns gets the first status. Other words have no status.
 */
const STATUS_OF_WORDS: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|too_?many|throttl|resource_?exhausted|quota/i, 429],
  [/overload|unavailable|capacity|busy|time_?out|deadline|internal|server_?error|try_again/i, 503],
  [/invalid_api_key|unauthenticated|unauthori[sz]ed|authentication/i, 401],
  [/permission|forbidden/i, 403],
  [/not_found/i, 404],
  [/invalid|unsupported|not_supported|bad_request|context_length|content_(policy|filter)/i, 400],
];

function statusOfWord(word: string): number | null {
  return STATUS_OF_WORDS.find(([words]) => words.test(word))?.[1] ?? null;
}

/** Returns the members of an object. Returns an object without members for any other value. */
export function toMembers(value: unknown): Members {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
