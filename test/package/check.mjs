// Checks the package as npm would publish it, in a temporary folder of its own:
//
//   node test/package/check.mjs NEST_MAJOR [TARBALL]
//
// installs the tarball (packed first when none is given) beside that major version of NestJS, imports and requires
// every entry, compiles host.ts against it as an ES module and as a CommonJS module, and boots both.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const { name, exports, peerDependencies, peerDependenciesMeta = {}, devDependencies } = readManifest(root);
const [mainEntry, ...otherEntries] = Object.keys(exports)
  .filter((entry) => entry !== './package.json')
  .map((entry) => posix.join(name, entry));

const [nest, tarball] = process.argv.slice(2);
assert.match(nest ?? '', /^\d+$/, 'Give the major version of NestJS: node test/package/check.mjs 12');

const folder = mkdtempSync(join(tmpdir(), `${name}-package-`));
try {
  install(tarball === undefined ? pack() : resolve(tarball));
  checkContents();
  checkEntry(mainEntry);
  // The other entries may need an optional peer; the main entry and the hosts must do without.
  compileHosts();
  bootHost('host.mjs');
  bootHost('host.cjs');
  installOptionalPeers();
  otherEntries.forEach(checkEntry);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function pack() {
  const into = join(folder, 'pack');
  mkdirSync(into);
  run('npm', ['pack', '--pack-destination', into], root);
  return join(into, readdirSync(into)[0]);
}

function install(file) {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const nestPackages = ['@nestjs/common', '@nestjs/core', '@nestjs/platform-express'];
  npmInstall([file, ...nestPackages.map((each) => `${each}@${nest}`), `@types/node@${devDependencies['@types/node']}`]);
  const found = nestPackages.map((each) => `${each}@${readManifest(join(folder, 'node_modules', each)).version}`);
  report(`installed beside ${found.join(', ')}`);
}

function installOptionalPeers() {
  const optional = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional);
  if (optional.length === 0) return;
  npmInstall(optional.map((peer) => `${peer}@${peer.startsWith('@nestjs/') ? nest : peerDependencies[peer]}`));
  report(`installed the optional peers ${optional.join(', ')}`);
}

// Without install scripts: no host needs one, and no database driver is used here.
function npmInstall(specs) {
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error', ...specs]);
}

function checkContents() {
  const files = readdirSync(join(folder, 'node_modules', name), { recursive: true });
  assert.deepEqual(
    ['LICENSE', 'README.md', 'package.json'].filter((file) => !files.includes(file)),
    [],
    'the package lacks these files',
  );
  assert.deepEqual(
    files.filter((file) => /\.spec\.|^dist[/\\](apps|test)\b|^(src|apps|test)\b/.test(file)),
    [],
    'the package has files that no host needs',
  );
  report(`packed ${String(files.length)} files and folders`);
}

/** Imports and requires an entry; both must give the same objects, or `instanceof` and injection tokens would break. */
function checkEntry(specifier) {
  const script = `
    const imported = await import('${specifier}');
    const { createRequire } = await import('node:module');
    const required = createRequire(process.cwd() + '/')('${specifier}');
    const names = Object.keys(imported);
    if (names.length === 0) throw new Error('It exports nothing.');
    const twice = names.filter((name) => imported[name] !== required[name]);
    if (twice.length > 0) throw new Error('Not the same by import and by require: ' + twice.join(', '));
    console.log(names.length);
  `;
  const count = run('node', ['--input-type=module', '--eval', script]).trim();
  report(`imports and requires ${specifier}: ${count} names`);
}

/** Faults in the type declarations of other packages are not ours to judge. */
function compileHosts() {
  for (const extension of ['mts', 'cts']) {
    copyFileSync(join(import.meta.dirname, 'host.ts'), join(folder, `host.${extension}`));
  }
  copyFileSync(join(import.meta.dirname, 'host.tsconfig.json'), join(folder, 'tsconfig.json'));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync('node', [compiler, '--project', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const faults = stdout.split('\n').filter((line) => /\berror TS\d+:/.test(line));
  const foreign = faults.filter(
    (line) => line.startsWith('node_modules/') && !line.startsWith(`node_modules/${name}/`),
  );
  assert.deepEqual(
    faults.filter((line) => !foreign.includes(line)),
    [],
    'the hosts do not compile',
  );
  report(`compiles for ES modules and CommonJS (${String(foreign.length)} type errors inside other packages)`);
}

function bootHost(file) {
  run('node', [file]);
  report(`boots ${file} and completes a task`);
}

/** Runs a program to its end and returns what it printed; throws with all of its output when it fails. */
function run(program, args, cwd = folder) {
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 180_000,
  });
  if (error) throw error;
  if (status !== 0) {
    throw new Error(`${program} ${args.join(' ')} ended with ${String(status ?? signal)}\n${stdout}${stderr}`);
  }
  return stdout;
}

function readManifest(path) {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
}

function report(line) {
  console.log(`NestJS ${nest}: ${line}`);
}
