/** An exact decimal number, `units` / 10^`places`. Sums, products and comparisons of it are exact. */
export interface Decimal {
  readonly units: bigint;
  /** 0 or more. */
  readonly places: number;
}

/** The decimal that a finite number is written as: 0.1 is one tenth, not the double next to it. */
export function toDecimal(value: number): Decimal {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  if (whole === "") throw new Error(`${value} is no decimal`);
  const units = BigInt(`${sign}${whole}${fraction}`);
  const places = fraction.length - Number(exponent);
  return places >= 0 ? { units, places } : { units: units * 10n ** BigInt(-places), places: 0 };
}

/** The double that is nearest to a decimal; {@link toDecimal} reverts it up to 15 digits. */
export function toNumber({ units, places }: Decimal): number {
  return Number(`${units}e-${places}`);
}

export function addDecimals(first: Decimal, second: Decimal): Decimal {
  const places = Math.max(first.places, second.places);
  return { units: unitsAt(first, places) + unitsAt(second, places), places };
}

export function multiplyDecimals(first: Decimal, second: Decimal): Decimal {
  return { units: first.units * second.units, places: first.places + second.places };
}

/** Below 0, 0 or above 0, as the first is less than, equal to or more than the second. */
export function compareDecimals(first: Decimal, second: Decimal): number {
  const places = Math.max(first.places, second.places);
  const [left, right] = [unitsAt(first, places), unitsAt(second, places)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function unitsAt({ units, places }: Decimal, wanted: number): bigint {
  return units * 10n ** BigInt(wanted - places);
}
