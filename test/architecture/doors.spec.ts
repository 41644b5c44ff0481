import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { importCycles } from './import-cycles.js';
import { describeSource, manifest, readSources, root, type SourceFile, sourcesOf, targetOf } from './source-tree.js';

/**
 * The doors between the rooms of `src`: a room and the rooms it may import. Every room may import `#protocol` and `#outbound`,
 * and those of the receiver's side `#client`, since an agent needs nothing of it.
 */
const doors: Readonly<Record<string, readonly string[]>> = {
  context: [],
  store: ['context'],
  events: ['context', 'store'],
  skills: ['context'],
  execution: ['context', 'store', 'events', 'skills'],
  signing: ['context'],
  push: ['context', 'store', 'events', 'signing'],
  card: ['context', 'skills', 'signing'],
  operations: ['context', 'store', 'events', 'skills', 'execution', 'push', 'card'],
  security: ['context', 'store'],
  bindings: ['context', 'security', 'operations', 'card', 'signing'],
  receiver: ['context'],
};
const clientSide: readonly string[] = ['receiver'];
const openToAll = /^src\/(a2a\.(options|constants)\.ts$|logging\/)/;

const src = readSources('src');
const libs = readSources('libs');
const apps = readSources('apps');
const tests = readSources('test');
const everything = [...src, ...libs, ...apps, ...tests];
const entries = new Set([...sourcesOf(manifest.exports).values(), ...sourcesOf(manifest.imports).values()]);

describe('The layout', () => {
  it.each(['package.json', 'nest-cli.json', 'tsconfig.json', 'src', 'libs', 'test', 'apps'])(
    'has %s at the root (PKG-01a)',
    (name) => {
      expect(existsSync(join(root, name))).toBe(true);
    },
  );

  it('keeps the published module in src, the reference host in apps/demo, the fixture host in apps/sut (R-01)', () => {
    const found = ['src/index.ts', 'apps/demo/src/main.ts', 'apps/sut/src/main.ts'].filter((path) =>
      existsSync(join(root, path)),
    );
    expect(found).toEqual(['src/index.ts', 'apps/demo/src/main.ts', 'apps/sut/src/main.ts']);
  });

  it('names no file after a utility, a helper or a manager', () => {
    const names = everything.map(({ path }) => path).filter((path) => /^utils?\.|helper|manager/i.test(basename(path)));
    expect(names).toEqual([]);
  });
});

describe('The doors', () => {
  it('let libs/protocol import nothing outside itself (R-01)', () => {
    expect(
      offences(libs.filter(isProduction).filter(inside('libs/protocol/')), (target) =>
        target?.startsWith('libs/protocol/') ? undefined : 'the protocol imports nothing',
      ),
    ).toEqual([]);
  });

  it('let libs/outbound import nothing outside itself but Node', () => {
    expect(
      offences(libs.filter(isProduction).filter(inside('libs/outbound/')), (target, _file, specifier) =>
        target?.startsWith('libs/outbound/') || specifier.startsWith('node:')
          ? undefined
          : 'outbound imports Node alone',
      ),
    ).toEqual([]);
  });

  it('let libs/client import the protocol, the outbound requests and packages, and no Nest (R-01)', () => {
    expect(
      offences(libs.filter(isProduction).filter(inside('libs/client/')), (target, _file, specifier) => {
        if (specifier.startsWith('@nestjs/')) return 'the client runs without Nest';
        const isOpen = target === undefined || target.startsWith('libs/client/');
        return isOpen || ['#protocol', '#outbound'].includes(specifier)
          ? undefined
          : 'the client imports #protocol and #outbound';
      }),
    ).toEqual([]);
  });

  it('know every room of src', () => {
    expect(
      [...new Set(src.map(roomOf))].filter((room) => room !== '' && room !== 'logging' && !(room in doors)),
    ).toEqual([]);
  });

  it('open each room of src only to the rooms it stands on, type imports included', () => {
    expect(
      offences(src.filter(isProduction), (target, file) => {
        const room = roomOf(file);
        if (!target?.startsWith('src/') || room === '' || openToAll.test(target)) return undefined;
        const other = roomOf({ path: target });
        if (other === room || doors[room]?.includes(other)) return undefined;
        return `${room} may import ${doors[room]?.join(', ') || 'no other room'}`;
      }),
    ).toEqual([]);
  });

  it('let src reach the libs by #protocol and #outbound, and #client at the side of receivers, and nothing else outside itself', () => {
    expect(
      offences(src.filter(isProduction), (target, file, specifier) => {
        const open = ['#protocol', '#outbound', ...(clientSide.includes(roomOf(file)) ? ['#client'] : [])];
        return target === undefined || target.startsWith('src/') || open.includes(specifier)
          ? undefined
          : `it may import src, ${open.join(', ')} and packages`;
      }),
    ).toEqual([]);
  });

  it("keep the receiver's side out of the agent", () => {
    const graph = new Map(src.map((file) => [file.path, targetsOf(file)]));
    const reached = new Set(['src/index.ts']);
    for (const path of reached) graph.get(path)?.forEach((target) => reached.add(target));
    expect([...reached].filter((path) => clientSide.includes(roomOf({ path })))).toEqual([]);
  });

  it('lead from the main entry to no file that needs terminus, which a host may do without (PKG-01)', () => {
    const graph = new Map(src.map((file) => [file.path, targetsOf(file)]));
    const reached = new Set(['src/index.ts']);
    for (const path of reached) graph.get(path)?.forEach((target) => reached.add(target));
    const users = src.filter(({ specifiers }) => specifiers.includes('@nestjs/terminus')).map(({ path }) => path);
    expect(users).toEqual(['src/a2a.health-indicator.ts']);
    expect(users.filter((path) => reached.has(path))).toEqual([]);
    expect(reached).toContain('src/a2a.service.ts');
  });

  it('keep src/index.ts for outsiders', () => {
    expect(
      offences(src, (target) => (target === 'src/index.ts' ? 'inside the package, import the file' : undefined)),
    ).toEqual([]);
  });

  it('make the apps and the end-to-end tests import the package by its name', () => {
    expect(
      offences([...apps, ...tests.filter(inside('test/e2e/'))], (target, _file, specifier) =>
        specifier.startsWith('.') && /^(src|libs)\//.test(target ?? '') ? `import ${manifest.name}` : undefined,
      ),
    ).toEqual([]);
  });

  it('let no file import itself in a circle, type imports included', () => {
    const graph = new Map(everything.map((file) => [file.path, targetsOf(file)]));
    expect(importCycles(graph)).toEqual([]);
  });
});

describe('The modules', () => {
  it('have no barrels but the entries that package.json names', () => {
    const barrels = [...src, ...libs, ...apps]
      .filter((file) => file.isBarrel || basename(file.path) === 'index.ts')
      .map(({ path }) => path)
      .filter((path) => !entries.has(path));
    expect(barrels).toEqual([]);
  });

  it('have no default exports', () => {
    expect([...src, ...libs].filter((file) => file.hasDefaultExport).map(({ path }) => path)).toEqual([]);
  });
});

describe('The reader of imports', () => {
  it('sees every way of importing a module', () => {
    const text = [
      `import './a.js';`,
      `import { type B } from './b.js';`,
      `import type { C } from './c.js';`,
      `export * from './d.js';`,
      `export type { E } from './e.js';`,
      `import f = require('./f.cjs');`,
      `const g: typeof import('./g.js') = await import('./h.js');`,
      `// import './not.js'`,
    ].join('\n');
    const file = describeSource('src/x/x.ts', text);
    expect(file.specifiers.map((specifier) => targetOf(file, specifier))).toEqual(
      ['a.ts', 'b.ts', 'c.ts', 'd.ts', 'e.ts', 'f.cts', 'g.ts', 'h.ts'].map((name) => `src/x/${name}`),
    );
  });

  it('knows the names of the package itself', () => {
    const file = describeSource('apps/demo/src/main.ts', '');
    expect(targetOf(file, '#protocol')).toBe('libs/protocol/src/index.ts');
    expect(targetOf(file, 'nestjs-a2a')).toBe('src/index.ts');
    expect(targetOf(file, 'rxjs')).toBeUndefined();
  });

  it.each(['export default 1;', 'export default class A {}', 'const a = 1; export { a as default };'])(
    'sees the default export of %j',
    (text) => {
      expect(describeSource('a.ts', text).hasDefaultExport).toBe(true);
    },
  );

  it('tells a barrel from a file that has something of its own', () => {
    expect(describeSource('a.ts', `export * from './b.js';`).isBarrel).toBe(true);
    expect(describeSource('a.ts', `export * from './b.js'; export const c = 1;`).isBarrel).toBe(false);
  });

  it('finds cycles of one file and of several', () => {
    const graph = { a: ['b', 'd'], b: ['c'], c: ['a', 'gone'], d: ['d'], e: ['a', 'd'] };
    expect(importCycles(new Map(Object.entries(graph)))).toEqual([['d'], ['a', 'b', 'c']]);
  });
});

/** One line for each import that a rule refuses. */
function offences(
  files: readonly SourceFile[],
  rule: (target: string | undefined, file: SourceFile, specifier: string) => string | undefined,
): readonly string[] {
  return files.flatMap((file) =>
    file.specifiers.flatMap((specifier) => {
      const objection = rule(targetOf(file, specifier), file, specifier);
      return objection === undefined ? [] : [`${file.path} imports ${specifier}: ${objection}`];
    }),
  );
}

function targetsOf(file: SourceFile): readonly string[] {
  return file.specifiers.flatMap((specifier) => targetOf(file, specifier) ?? []);
}

function isProduction({ path }: { readonly path: string }): boolean {
  return !path.endsWith('.spec.ts');
}

function inside(folder: string): (file: { readonly path: string }) => boolean {
  return ({ path }) => path.startsWith(folder);
}

/** `src/store/memory/x.ts` is of the room `store`; a file directly in `src` is of the room `''`. */
function roomOf({ path }: { readonly path: string }): string {
  const [, room = '', ...rest] = path.split('/');
  return rest.length > 0 ? room : '';
}
