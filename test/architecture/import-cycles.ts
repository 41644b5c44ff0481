/**
 * Finds the import cycles of a graph of files: its strongly connected components of more than one file, and files that
 * import themselves.
 *
 * @param graph - each file with the files it imports; what is no key of the map is ignored
 * @see R. Tarjan, Depth-first search and linear graph algorithms (1972)
 */
export function importCycles(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];

  // Returns the lowest order that can be reached from the file within the part of the graph still open.
  const visit = (file: string): number => {
    const own = order.size;
    let lowest = own;
    order.set(file, own);
    open.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!graph.has(next)) continue;
      const seen = order.get(next);
      if (seen === undefined) lowest = Math.min(lowest, visit(next));
      else if (open.includes(next)) lowest = Math.min(lowest, seen);
    }
    if (lowest === own) {
      const component = open.splice(open.indexOf(file));
      if (component.length > 1 || graph.get(file)?.includes(file)) cycles.push(component);
    }
    return lowest;
  };

  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return cycles;
}
