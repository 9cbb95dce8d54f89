/** Complex numbers: the real and the imaginary part of each. */
export interface Complexes {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
}

/**
 * Transforms `signal` in place: entry k becomes the sum over all entries j of entry j times e^(-2πi · j · k / length).
 * The length must be a power of two. Uses radix 2, with each root computed by sine and cosine. The relative error of
 * the result, as a vector, is at most {@link transformError}.
 */
export function transform(signal: Complexes): void {
  const { length } = signal.real;
  reverseBits(signal);
  for (let half = 1; half < length; half *= 2) {
    for (let place = 0; place < half; place++) {
      const angle = (-Math.PI * place) / half;
      const root = { real: Math.cos(angle), imaginary: Math.sin(angle) };
      for (let at = place; at < length; at += 2 * half) combine(signal, at, at + half, root);
    }
  }
}

/**
 * Returns the maximum relative error of {@link transform}. Each stage has five roundings (of a product, its root and a
 * sum), each of at most 2^-53.
 */
export function transformError(length: number): number {
  return 5 * Math.log2(length) * 2 ** -53;
}

interface Complex {
  readonly real: number;
  readonly imaginary: number;
}

function combine({ real, imaginary }: Complexes, first: number, second: number, root: Complex): void {
  const [a, b] = [real[second] ?? 0, imaginary[second] ?? 0];
  const turnedReal = a * root.real - b * root.imaginary;
  const turnedImaginary = a * root.imaginary + b * root.real;
  const [c, d] = [real[first] ?? 0, imaginary[first] ?? 0];
  real[first] = c + turnedReal;
  imaginary[first] = d + turnedImaginary;
  real[second] = c - turnedReal;
  imaginary[second] = d - turnedImaginary;
}

function reverseBits({ real, imaginary }: Complexes): void {
  const { length } = real;
  for (let at = 1, reversed = 0; at < length; at++) {
    let bit = length >> 1;
    for (; (reversed & bit) !== 0; bit >>= 1) reversed ^= bit;
    reversed ^= bit;
    if (at < reversed) {
      swap(real, at, reversed);
      swap(imaginary, at, reversed);
    }
  }
}

function swap(values: Float64Array, a: number, b: number): void {
  const swapped = values[a] ?? 0;
  values[a] = values[b] ?? 0;
  values[b] = swapped;
}

/** Raises each number to a positive integer power, by squaring. */
export function raise({ real, imaginary }: Complexes, power: number): void {
  for (let at = 0; at < real.length; at++) {
    let [baseReal, baseImaginary] = [real[at] ?? 0, imaginary[at] ?? 0];
    let [a, b] = [1, 0];
    for (let left = power; left > 0; left = Math.floor(left / 2)) {
      if (left % 2 === 1) [a, b] = [a * baseReal - b * baseImaginary, a * baseImaginary + b * baseReal];
      [baseReal, baseImaginary] = [baseReal ** 2 - baseImaginary ** 2, 2 * baseReal * baseImaginary];
    }
    real[at] = a;
    imaginary[at] = b;
  }
}
