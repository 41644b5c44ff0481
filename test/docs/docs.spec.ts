import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from '@jest/globals';
import { ERROR_TABLE } from 'nestjs-a2a/protocol';
import ts from 'typescript';
import { rpc } from '../support/rpc.js';
import { DiscoverableModule } from './card.js';
import { AppModule } from './quickstart.js';
import { ReceiverModule } from './receiver.js';

const root = join(import.meta.dirname, '../..');
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`),
];

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Every fenced TypeScript block of a document, with the file that it is said to be. */
function codeBlocks(document: string): { file: string | undefined; code: string }[] {
  const blocks = read(document).matchAll(/(?:<!-- file: (\S+) -->\n\n?)?```ts\n([\s\S]*?)```/gu);
  return [...blocks].map(([, file, code = '']) => ({ file, code }));
}

describe.each(documents)('%s', (document) => {
  it('shows only code that is compiled: the files it names, as they are (PKG-13)', () => {
    for (const { file, code } of codeBlocks(document)) {
      expect(file).toBeDefined();
      expect(code).toBe(read(file!));
    }
  });

  it('links to files that exist', () => {
    const links = [...read(document).matchAll(/\]\((?!https?:)([^)#]+)/gu)].map(([, target = '']) => target);
    const missing = links.filter((target) => !existsSync(join(root, dirname(document), target)));
    expect(missing).toEqual([]);
  });
});

describe('The three steps of the README (PKG-13)', () => {
  it('make an agent that answers behind the guard of the application', async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    const app = module.createNestApplication({ forceCloseConnections: true, logger: false });
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const message = {
      messageId: 'm-1',
      role: 'ROLE_USER',
      parts: [{ data: { skill: 'summarize', arguments: { year: 2026 } } }],
    };
    const stranger = await rpc(url, 'SendMessage', { message });
    const answer = await rpc(url, 'SendMessage', { message }, { headers: { authorization: 'Bearer alice' } });
    const invalid = await rpc(
      url,
      'SendMessage',
      { message: { ...message, parts: [{ data: { skill: 'summarize', arguments: { year: 1 } } }] } },
      { headers: { authorization: 'Bearer alice' } },
    );
    await app.close();
    expect(stranger.status).toBe(401);
    expect(answer.body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(answer.body.result.task.artifacts[0].parts[0].data).toMatchObject({ owner: 'alice', period: '2026' });
    expect(invalid.body.result.task.status).toMatchObject({ state: 'TASK_STATE_REJECTED' });
    expect(invalid.body.result.task.status.message.parts[0].text).toContain('year');
  });
});

describe('The application of the page about the card (PKG-13, CARD-04, XC-01a)', () => {
  it('shows its schemes to everybody, and its extended card to none but partners', async () => {
    const module = await Test.createTestingModule({ imports: [DiscoverableModule] }).compile();
    const app = module.createNestApplication({ forceCloseConnections: true, logger: false });
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
    const known = await rpc(url, 'GetExtendedAgentCard', {}, { headers: { authorization: 'Bearer alice' } });
    const stranger = await rpc(url, 'GetExtendedAgentCard');
    await app.close();
    expect(card).toMatchObject({
      securityRequirements: [{ schemes: { partners: {} } }, { schemes: { staff: {} } }],
      skills: [
        { id: 'summarize', securityRequirements: [{ schemes: { partners: { list: ['invoices:read'] } } }, {}] },
        { id: 'remind' },
      ],
    });
    expect(known.body.error.code).toBe(-32007);
    expect(stranger.headers.get('www-authenticate')).toBe(
      'Bearer realm="invoices", resource_metadata="https://invoices.example.com/.well-known/oauth-protected-resource/a2a"',
    );
  });
});

describe("The receiver's side", () => {
  it('is an application that turns strangers away (S-11)', async () => {
    const module = await Test.createTestingModule({ imports: [ReceiverModule] }).compile();
    const app = module.createNestApplication({ forceCloseConnections: true, logger: false });
    await app.listen(0, '127.0.0.1');
    const { status } = await fetch(`${await app.getUrl()}/notifications`, { method: 'POST', body: '{}' });
    await app.close();
    expect(status).toBe(401);
  });
});

describe('The page of errors', () => {
  it('has a row for each code, with its name and reason (ERR-01, OPS-06)', () => {
    const page = read('docs/errors.md').replaceAll(/ +/gu, ' ');
    for (const [code, { name, reason }] of Object.entries(ERROR_TABLE)) {
      expect(page).toContain(`| ${code} | ${name} | ${reason} |`);
    }
  });
});

const OPTION_FILES = [
  'src/a2a.options.ts',
  'src/card/card.options.ts',
  'src/card/protected-resource.options.ts',
  'src/push/push.options.ts',
];

describe('The page of options', () => {
  it.each(['A2AOptions', 'A2AModuleExtras', 'CardOptions', 'ProtectedResourceOptions', 'PushOptions'])(
    'names every member of %s (OPS-06)',
    (name) => {
      const page = read('docs/options.md');
      const missing = membersOf(name).filter((member) => !page.includes(`\`${member}\``));
      expect(missing).toEqual([]);
    },
  );
});

function membersOf(name: string): string[] {
  for (const path of OPTION_FILES) {
    const source = ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true);
    const found = source.statements.find(
      (statement): statement is ts.InterfaceDeclaration =>
        ts.isInterfaceDeclaration(statement) && statement.name.text === name,
    );
    if (found) return found.members.map((member) => member.name?.getText(source) ?? '');
  }
  throw new Error(`There is no interface ${name}.`);
}
