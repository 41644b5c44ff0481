import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, resolve, sep } from 'node:path';
import ts from 'typescript';

/** The folder that holds package.json. */
export const root = resolve(import.meta.dirname, '../..');

/** One TypeScript file and what its text says about other files. Paths are relative to the root, with `/`. */
export interface SourceFile {
  readonly path: string;
  /** The specifiers it imports from or re-exports, as written; `import type`, `import()` and `import('x').Y` included. */
  readonly specifiers: readonly string[];
  readonly hasDefaultExport: boolean;
  /** Whether it has nothing but `export … from`. */
  readonly isBarrel: boolean;
}

interface Conditions {
  readonly 'a2a-source'?: string;
}
export type Entries = Readonly<Record<string, Conditions | string>>;

export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly exports: Entries;
  readonly imports: Entries;
};

/** The source file of each name in an `exports` or `imports` map: `./src/index.ts` becomes `src/index.ts`. */
export function sourcesOf(entries: Entries): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(entries).flatMap(([name, target]) => {
      const source = typeof target === 'string' ? undefined : target['a2a-source'];
      return source === undefined ? [] : [[name, posix.normalize(source)] as const];
    }),
  );
}

/** Reads every TypeScript file below a folder of the repository; a folder that is not there has none. */
export function readSources(folder: string): readonly SourceFile[] {
  const base = join(root, folder);
  if (!existsSync(base)) return [];
  return readdirSync(base, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => describeSource(relative(root, file).split(sep).join('/'), readFileSync(file, 'utf8')));
}

/** Says what the text of a file imports and exports. */
export function describeSource(path: string, text: string): SourceFile {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, false);
  const specifiers: string[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) specifiers.push(specifier.text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return {
    path,
    specifiers,
    hasDefaultExport: file.statements.some(exportsDefault),
    isBarrel:
      file.statements.length > 0 &&
      file.statements.every(
        (statement) => ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined,
      ),
  };
}

/** The file that a relative specifier, or a name of this package, stands for; `undefined` for a foreign package. */
export function targetOf(file: SourceFile, specifier: string): string | undefined {
  if (specifier.startsWith('.')) {
    return posix.join(posix.dirname(file.path), specifier).replace(/\.([cm]?)js$/, '.$1ts');
  }
  return ownNames.get(specifier);
}

const ownNames: ReadonlyMap<string, string> = new Map([
  ...sourcesOf(manifest.imports),
  ...[...sourcesOf(manifest.exports)].map(([name, source]) => [posix.join(manifest.name, name), source] as const),
]);

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isExternalModuleReference(node)) return node.expression;
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return node.arguments[0];
  return undefined;
}

function exportsDefault(statement: ts.Statement): boolean {
  if (ts.isExportAssignment(statement)) return true;
  if (ts.isExportDeclaration(statement)) {
    const clause = statement.exportClause;
    return (
      clause !== undefined &&
      ts.isNamedExports(clause) &&
      clause.elements.some((element) => element.name.text === 'default')
    );
  }
  return (
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement) ?? []).some((modifier) => modifier.kind === ts.SyntaxKind.DefaultKeyword)
  );
}
