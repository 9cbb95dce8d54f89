/** Records with 50 different shapes, more than the 32 that LMDB's binding shares by default. */
export const shapes: readonly unknown[] = Array.from({ length: 50 }, (_, index) => ({
  [`field${index}`]: index,
  nested: { [`inner${index % 7}`]: [index], text: "é" },
  same: true,
}));
