import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import { raise, transform, transformError } from "../../../actors/statistics/fourier.js";

type Pair = readonly [number, number];

const times = ([a, b]: Pair, [c, d]: Pair): Pair => [a * c - b * d, a * d + b * c];

/** The transform by its definition: every entry with every root. */
function slowTransform(signal: readonly Pair[]): Pair[] {
  return signal.map((_, place) =>
    signal.reduce<Pair>(
      ([real, imaginary], each, at) => {
        const angle = (-2 * Math.PI * ((place * at) % signal.length)) / signal.length;
        const [more, moreImaginary] = times(each, [Math.cos(angle), Math.sin(angle)]);
        return [real + more, imaginary + moreImaginary];
      },
      [0, 0],
    ),
  );
}

const toSignal = (pairs: readonly Pair[]) => ({
  real: Float64Array.from(pairs, ([real]) => real),
  imaginary: Float64Array.from(pairs, ([, imaginary]) => imaginary),
});

const norm = (pairs: readonly Pair[]): number => Math.sqrt(pairs.reduce((sum, [a, b]) => sum + a * a + b * b, 0));

const part = fc.double({ min: -1, max: 1, noNaN: true });
const pairs = fc
  .integer({ min: 0, max: 6 })
  .chain((power) => fc.array(fc.tuple(part, part), { minLength: 2 ** power, maxLength: 2 ** power }));

t.test("a transform is the sum over all roots, within the error it states and the slow sum's own", async () => {
  fc.assert(
    fc.property(pairs, (given) => {
      const signal = toSignal(given);
      transform(signal);
      const wanted = slowTransform(given);
      const off = norm(wanted.map(([a, b], at) => [a - (signal.real[at] ?? 0), b - (signal.imaginary[at] ?? 0)]));
      assert.ok(off <= (transformError(given.length) + given.length * 2 ** -50) * norm(wanted) + 1e-300);
    }),
  );
});

t.test(
  "the transform of a single entry is a circle of roots, and back again, within the error it states",
  async (t) => {
    const length = 512;
    const norm1 = Math.sqrt(length);
    for (const place of [0, 1, 2, 3, 127, 200, 511]) {
      const signal = toSignal(Array.from({ length }, (_, at) => [at === place ? 1 : 0, 0] as const));
      transform(signal);
      const off = norm(
        Array.from({ length }, (_, at) => {
          const angle = (2 * Math.PI * ((at * place) % length)) / length;
          return [Math.cos(angle) - (signal.real[at] ?? 0), -Math.sin(angle) - (signal.imaginary[at] ?? 0)] as const;
        }),
      );
      t.ok(off <= transformError(length) * norm1, `${off}`);
      transform({ real: signal.imaginary, imaginary: signal.real });
      const back = norm(
        Array.from({ length }, (_, at) => [
          (signal.real[at] ?? 0) / length - (at === place ? 1 : 0),
          (signal.imaginary[at] ?? 0) / length,
        ]),
      );
      t.ok(back <= 2 * transformError(length), `${back}`);
    }
  },
);

t.test("numbers are raised to a power as by multiplying", async () => {
  fc.assert(
    fc.property(fc.tuple(part, part), fc.integer({ min: 1, max: 40 }), (given, power) => {
      const signal = toSignal([given]);
      raise(signal, power);
      const wanted = Array.from({ length: power }, () => given).reduce(times, [1, 0]);
      assert.ok(Math.abs(wanted[0] - (signal.real[0] ?? 0)) <= 1e-13 * 2 ** (power / 2));
      assert.ok(Math.abs(wanted[1] - (signal.imaginary[0] ?? 0)) <= 1e-13 * 2 ** (power / 2));
    }),
  );
});
