const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_LENGTH = 10;
const TWENTY_BITS = 1 << 20;
/** Number of random bytes fetched at a time, to save calls. */
const POOL_BYTES = 512;

/** Generates ids and random numbers from an injected clock and an injected source of randomness. */
export interface Identities {
  /** Returns `<prefix>_<ULID>`. ULIDs increase within a process, even if the clock goes back. */
  newId(prefix: string): string;
  /** Returns a number in [0, 1) with 48 random bits. */
  random(): number;
  bytes(count: number): Uint8Array;
}

/**
 * Creates ids from `nowMs()` and `randomBytes`. Within one millisecond, the random part starts at a random value and
 * counts up.
 */
export function createIdentities(nowMs: () => number, randomBytes: (count: number) => Uint8Array): Identities {
  let pool: Uint8Array = new Uint8Array(0);
  let used = 0;
  const byte = (): number => {
    if (used === pool.length) {
      pool = randomBytes(POOL_BYTES);
      used = 0;
    }
    return pool[used++] ?? 0;
  };
  const ulid = createUlids(nowMs, byte);
  return {
    newId: (prefix) => `${prefix}_${ulid()}`,
    random: () => {
      let value = 0;
      for (let count = 0; count < 6; count++) value = value * 256 + byte();
      return value / 2 ** 48;
    },
    bytes: randomBytes,
  };
}

function createUlids(nowMs: () => number, byte: () => number): () => string {
  let lastMs = -1;
  let timeText = "";
  /** The 80 random bits, in four limbs of 20 bits. */
  const limbs: [number, number, number, number] = [0, 0, 0, 0];
  /** The time and all limbs except the last, as text. Usually only the last limb changes between two ids. */
  let begin = "";
  const startAt = (ms: number): void => {
    lastMs = ms;
    timeText = encode(ms, TIME_LENGTH);
    for (let index = 0; index < limbs.length; index++) {
      limbs[index] = ((byte() << 16) | (byte() << 8) | byte()) & (TWENTY_BITS - 1);
    }
    writeBegin();
  };
  const writeBegin = (): void => {
    begin = timeText + encodeLimb(limbs[0]) + encodeLimb(limbs[1]) + encodeLimb(limbs[2]);
  };
  const countUp = (): boolean => {
    for (let index = limbs.length - 1; index >= 0; index--) {
      const raised = (limbs[index] ?? 0) + 1;
      if (raised < TWENTY_BITS) {
        limbs[index] = raised;
        if (index < limbs.length - 1) writeBegin();
        return true;
      }
      limbs[index] = 0;
    }
    return false;
  };
  return () => {
    const now = nowMs();
    if (now > lastMs) startAt(now);
    else if (!countUp()) startAt(lastMs + 1);
    return begin + encodeLimb(limbs[3]);
  };
}

/**
 * Returns the first ten characters of the ULIDs of a millisecond. Earlier ULIDs sort before this text, and ULIDs of
 * this millisecond or later sort after it.
 */
export function ulidTime(ms: number): string {
  return encode(ms, TIME_LENGTH);
}

/** Encodes 20 bits as four characters. */
function encodeLimb(limb: number): string {
  const at = (shift: number): string => ALPHABET.charAt((limb >> shift) & 31);
  return at(15) + at(10) + at(5) + at(0);
}

function encode(value: number, length: number): string {
  let text = "";
  let rest = value;
  for (let count = 0; count < length; count++) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
