/** Records of as many shapes; more than LMDB's binding describes once for all (32). */
export const shapes: readonly unknown[] = Array.from({ length: 50 }, (_, index) => ({
  [`field${index}`]: index,
  nested: { [`inner${index % 7}`]: [index], text: "é" },
  same: true,
}));
