import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';
import { manifest, root, sourcesOf } from './source-tree.js';

/**
 * What the package exports, name by name. A name that goes, or changes its kind, breaks somebody's code: after a change
 * that is meant, run `npm test -- public-api -u` and commit the snapshot with a line in CHANGELOG.md.
 */
describe('The public API', () => {
  const sources = sourcesOf(manifest.exports);
  const files = [...sources.values()].map((source) => join(root, source));
  const program = ts.createProgram(files, { ...compilerOptions(), noEmit: true });

  it.each([...sources])(
    'of the entry %s is the one in the snapshot',
    (entry, source) => {
      expect([source, existsSync(join(root, source))]).toEqual([source, true]);
      const names = exportsOf(program, join(root, source));
      expect(`\n${names.join('\n')}\n`).toMatchSnapshot(posix.join(manifest.name, entry));
    },
    60_000,
  );
});

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: unknown;
  };
  return ts.parseJsonConfigFileContent(config, { ...ts.sys, readDirectory: () => [] }, root).options;
}

/** Each exported name after its kind, in the order of the alphabet. */
function exportsOf(program: ts.Program, path: string): readonly string[] {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(path);
  const module = file && checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${path} is no module.`);
  return checker
    .getExportsOfModule(module)
    .map((symbol) => {
      const meaning = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const hidesValue = isTypeOnly(symbol) && (meaning.flags & ts.SymbolFlags.Value) !== 0;
      return { name: symbol.name, kind: hidesValue ? `type-only ${kindOf(meaning)}` : kindOf(meaning) };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, kind }) => `${kind} ${name}`);
}

const kinds: readonly (readonly [ts.SymbolFlags, string])[] = [
  [ts.SymbolFlags.Class, 'class'],
  [ts.SymbolFlags.Function, 'function'],
  [ts.SymbolFlags.Variable, 'const'],
  [ts.SymbolFlags.Enum, 'enum'],
  [ts.SymbolFlags.Namespace, 'namespace'],
  [ts.SymbolFlags.Interface, 'interface'],
  [ts.SymbolFlags.TypeAlias, 'type'],
];

/** A symbol may have a value and a type: `const and type`. */
function kindOf(symbol: ts.Symbol): string {
  const found = kinds.filter(([flag]) => symbol.flags & flag).map(([, kind]) => kind);
  return found.length > 0 ? found.join(' and ') : 'unresolved';
}

/** Whether the name is exported by `export type`, so that a class of that name is not there at run time. */
function isTypeOnly(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some(
    (node) => ts.isExportSpecifier(node) && (node.isTypeOnly || node.parent.parent.isTypeOnly),
  );
}
