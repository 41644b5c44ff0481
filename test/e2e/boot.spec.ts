import { afterEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Inject,
  Injectable,
  Module,
  Post,
  type DynamicModule,
  type INestApplication,
  type ModuleMetadata,
  type Provider,
} from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import {
  A2AConfigurationError,
  A2AModule,
  A2AService,
  MemoryTaskStore,
  PrincipalService,
  Skill,
  SkillText,
  TaskStore,
  type A2AModuleExtras,
  type A2AOptions,
  type AgentCard,
  type SkillDefinition,
  type TaskDraft,
} from 'nestjs-a2a';
import { ADAPTERS, headerPrincipal, type Adapter } from '../support/agent.js';
import { newcomer, textOf } from '../support/caller.js';

const OPTIONS: A2AOptions = {
  card: { name: 'Test agent', description: 'An agent under test.' },
  principal: headerPrincipal,
};

@Injectable()
class EchoSkills {
  @Skill('echo')
  echo(@SkillText() text: string): string {
    return text;
  }
}

describe('The boot', () => {
  let app: INestApplication | undefined;

  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  /** Boots an application, and gives its address. */
  async function boot(metadata: ModuleMetadata, adapter: Adapter = 'express'): Promise<string> {
    const module = await Test.createTestingModule(metadata).compile();
    app =
      adapter === 'fastify'
        ? module.createNestApplication(new FastifyAdapter(), { logger: false, forceCloseConnections: true })
        : module.createNestApplication({ logger: false, forceCloseConnections: true });
    await app.listen(0, '127.0.0.1');
    return `http://127.0.0.1:${(app.getHttpServer() as { address: () => { port: number } }).address().port}`;
  }

  const bootWith = (options: Partial<A2AOptions> & A2AModuleExtras, ...providers: Provider[]): Promise<string> =>
    boot({ imports: [A2AModule.forRoot({ ...OPTIONS, ...options })], providers });

  const service = (): A2AService => app!.get(A2AService, { strict: false });

  async function echoes(url: string): Promise<void> {
    const task = await newcomer(url).task('hello');
    expect(textOf(task.artifacts[0]!)).toBe('hello');
  }

  describe('of A2AModule', () => {
    it('by forRoot mounts exchange, card and store (PKG-02)', async () => {
      const url = await bootWith({}, EchoSkills);
      await echoes(url);
      const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as AgentCard;
      expect(card.name).toBe('Test agent');
      expect(app!.get(TaskStore, { strict: false })).toBeInstanceOf(MemoryTaskStore);
    });

    it('by forRootAsync takes a factory with dependencies, and the extras beside it (PKG-02)', async () => {
      @Module({ providers: [{ provide: 'NAME', useValue: 'From the factory' }], exports: ['NAME'] })
      class ConfigModule {}
      const url = await boot({
        imports: [
          A2AModule.forRootAsync({
            path: '/agent',
            imports: [ConfigModule],
            inject: ['NAME'],
            useFactory: async (name: string) => ({ ...OPTIONS, card: { ...OPTIONS.card, name } }),
          }),
        ],
        providers: [EchoSkills],
      });
      const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as AgentCard;
      expect(card).toMatchObject({ name: 'From the factory', supportedInterfaces: [{ url: `${url}/agent` }] });
      const { status } = await fetch(`${url}/a2a`, { method: 'POST' });
      expect(status).toBe(404);
    });

    it.each(['useClass', 'useExisting'] as const)('by forRootAsync takes a class: %s (PKG-02)', async (how) => {
      @Injectable()
      class OptionsFactory {
        create(): A2AOptions {
          return OPTIONS;
        }
      }
      @Module({ providers: [OptionsFactory], exports: [OptionsFactory] })
      class OptionsModule {}
      const url = await boot({
        imports: [A2AModule.forRootAsync({ imports: [OptionsModule], [how]: OptionsFactory })],
        providers: [EchoSkills],
      });
      await echoes(url);
    });

    it.each([true, false])('exports its services, everywhere when it is global: %s (PKG-02)', async (isGlobal) => {
      @Injectable()
      class Neighbour {
        constructor(
          readonly a2a: A2AService,
          readonly tasks: TaskStore,
          readonly principals: PrincipalService,
        ) {}
      }
      @Module({ providers: [Neighbour] })
      class NeighbourModule {}
      const booting = boot({
        imports: [A2AModule.forRoot({ ...OPTIONS, isGlobal }), NeighbourModule],
        providers: [EchoSkills],
      });
      if (!isGlobal) {
        await expect(booting).rejects.toThrow(/can't resolve dependencies of the Neighbour/u);
        return;
      }
      await booting;
      expect(app!.get(Neighbour, { strict: false }).a2a).toBe(service());
    });

    it.each(ADAPTERS)('twice in one application fails, and says what to do instead (R-39), on %s', async (adapter) => {
      @Module({ imports: [A2AModule.forRoot({ ...OPTIONS, path: '/other' })] })
      class Second {}
      await expect(
        boot({ imports: [A2AModule.forRoot(OPTIONS), Second], providers: [EchoSkills] }, adapter),
      ).rejects.toMatchObject({
        name: 'A2AConfigurationError',
        message:
          'A2AModule.forRoot was called 2 times in one application. Call it once, and import the module that does.',
      });
    });

    it('imported in two places is one module (R-39)', async () => {
      const dynamic: DynamicModule = A2AModule.forRoot(OPTIONS);
      @Module({ imports: [dynamic] })
      class Feature {}
      await echoes(await boot({ imports: [dynamic, Feature], providers: [EchoSkills] }));
    });

    it('leaves two applications of one process apart (PKG-02, B-106)', async () => {
      const first = await bootWith({}, EchoSkills);
      const other = await Test.createTestingModule({
        imports: [A2AModule.forRoot({ ...OPTIONS, skills: [{ id: 'other', handler: () => 'other' }] })],
      }).compile();
      const second = other.createNestApplication({ logger: false });
      await second.init();
      expect(
        service()
          .skills()
          .map(({ id }) => id),
      ).toEqual(['echo']);
      expect(
        second
          .get(A2AService, { strict: false })
          .skills()
          .map(({ id }) => id),
      ).toEqual(['other']);
      await second.close();
      await echoes(first);
    });
  });

  describe('fails', () => {
    const handler = () => undefined;

    @Injectable()
    class EmptyId {
      @Skill('')
      nameless(): void {}
    }

    @Injectable()
    class Summaries {
      @Skill('summarize')
      summarize(): void {}
    }

    @Injectable()
    class Notes {
      @Skill('summarize')
      summarize(): void {}
    }

    @Controller('skills')
    class SkillController {
      @Skill('misplaced')
      @Post()
      misplaced(): void {}
    }

    it.each<[string, Partial<A2AOptions>, Provider[], RegExp, string]>([
      [
        'no skill at all',
        {},
        [],
        /^The agent has no skill\. Annotate a method of a provider with @Skill\("some-id"\), or pass `skills` to A2AModule\.$/u,
        'PKG-04b',
      ],
      [
        'an empty id on a method',
        {},
        [EmptyId],
        /^EmptyId\.nameless: a skill's id has 1 to 256 characters\. Give this one such an id\.$/u,
        'PKG-04c',
      ],
      [
        'an empty id in the options',
        { skills: [{ id: '', handler }] },
        [],
        /^skills\[0\]: a skill's id has 1 to 256 characters/u,
        'PKG-04c',
      ],
      [
        'no id in the options',
        { skills: [{ handler } as unknown as SkillDefinition] },
        [],
        /^skills\[0\]: a skill's id has 1 to 256 characters/u,
        'PKG-04c',
      ],
      [
        'two methods of one id',
        {},
        [Summaries, Notes],
        /^Two skills are called "summarize": Summaries\.summarize and Notes\.summarize\. Give one of them another id\.$/u,
        'PKG-04c',
      ],
      [
        'an id in options and on a method',
        { skills: [{ id: 'summarize', handler }] },
        [Notes],
        /^Two skills are called "summarize": skills\[0\] and Notes\.summarize\. /u,
        'PKG-04c',
      ],
      [
        'an id twice in the options',
        {
          skills: [
            { id: 'x', handler },
            { id: 'x', handler },
          ],
        },
        [],
        /^Two skills are called "x": skills\[0\] and skills\[1\]\. /u,
        'PKG-04c',
      ],
      [
        'no handler',
        { skills: [{ id: 'x' } as unknown as SkillDefinition] },
        [],
        /^skills\[0\] \("x"\): `handler` is not a function\. Give it one\.$/u,
        'PKG-04c',
      ],
      [
        'a handler that is none',
        { skills: [{ id: 'x', handler: 'x' } as unknown as SkillDefinition] },
        [],
        /^skills\[0\] \("x"\): `handler` is not a function/u,
        'PKG-04c',
      ],
      [
        'no principal',
        { principal: undefined as never },
        [EchoSkills],
        /^The option `principal` is missing: every task has an owner\. Pass a function/u,
        'PKG-04d',
      ],
      [
        'a principal of null',
        { principal: null as never },
        [EchoSkills],
        /^The option `principal` is missing/u,
        'PKG-04d',
      ],
      [
        'no card',
        { card: undefined as never },
        [EchoSkills],
        /^The options `card\.name` and `card\.description` are missing\. Give the agent both\.$/u,
        'PKG-04c',
      ],
      [
        'a default page larger than the greatest',
        { defaultPageSize: 101 },
        [EchoSkills],
        /^defaultPageSize \(101\) is larger than maxPageSize \(100\)\. Lower the one or raise the other\.$/u,
        'PKG-04e',
      ],
    ])('for %s, naming what is wrong and the cure (%#)', async (_name, options, providers, message, _id) => {
      const error = await bootWith(options, ...providers).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(A2AConfigurationError);
      expect((error as Error).message).toMatch(message);
    });

    it('for a @Skill on a controller, naming it and the cure', async () => {
      const booting = boot({
        imports: [A2AModule.forRoot(OPTIONS)],
        controllers: [SkillController],
        providers: [EchoSkills],
      });
      await expect(booting).rejects.toMatchObject({
        name: 'A2AConfigurationError',
        message:
          'SkillController.misplaced: @Skill belongs on a provider, not on a controller. Move the method to a service.',
      });
    });

    it('for a class that is provided twice, as for any id that is taken twice (PKG-04c)', async () => {
      @Module({ providers: [EchoSkills] })
      class Other {}
      await expect(boot({ imports: [A2AModule.forRoot(OPTIONS), Other], providers: [EchoSkills] })).rejects.toThrow(
        'Two skills are called "echo": EchoSkills.echo and EchoSkills.echo.',
      );
    });
  });

  describe('finds skills', () => {
    it('with all that describes them, explicit ones first (PKG-03a, PKG-03b, PKG-04a)', async () => {
      @Injectable()
      class Described {
        @Skill('found', {
          name: 'Found',
          description: 'Was found.',
          tags: ['a'],
          examples: ['find me'],
          inputModes: ['application/json'],
          outputModes: ['text/plain'],
          scopes: ['find'],
        })
        found(): void {}

        @Skill('bare')
        bare(): void {}
      }
      const url = await bootWith(
        {
          skills: [
            { id: 'second', handler: () => 'x', description: 'Explicit.' },
            { id: 'first', handler: () => 'y' },
          ],
        },
        Described,
      );
      expect(
        service()
          .skills()
          .map(({ id }) => id),
      ).toEqual(['second', 'first', 'found', 'bare']);
      expect(service().skills()[2]).toEqual({
        id: 'found',
        name: 'Found',
        description: 'Was found.',
        tags: ['a'],
        examples: ['find me'],
        inputModes: ['application/json'],
        outputModes: ['text/plain'],
        scopes: ['find'],
        answers: 'task',
      });
      const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as AgentCard;
      expect(card.skills.map(({ id }) => id)).toEqual(['second', 'first', 'found', 'bare']);
      expect(card.skills[2]).toMatchObject({
        name: 'Found',
        description: 'Was found.',
        tags: ['a'],
        examples: ['find me'],
      });
    });

    it('that are explicit, and runs them with the task (PKG-04a)', async () => {
      const url = await bootWith({ skills: [{ id: 'x', handler: (task) => `${task.owner} ${task.id}` }] });
      const alice = newcomer(url);
      const task = await alice.task('go');
      expect(textOf(task.artifacts[0]!)).toBe(`${alice.user} ${task.id}`);
    });

    it('in modules other than its own, on instances of factories, and on values (PKG-03a)', async () => {
      class Made {
        constructor(private readonly word: string) {}

        @Skill('made')
        made(): string {
          return this.word;
        }
      }
      class Valued {
        @Skill('valued')
        valued(): string {
          return 'value';
        }
      }
      @Module({
        providers: [
          { provide: 'MADE', useFactory: async () => new Made('factory') },
          { provide: 'VALUED', useValue: new Valued() },
        ],
      })
      class Feature {}
      const url = await boot({ imports: [A2AModule.forRoot(OPTIONS), Feature] });
      for (const [skill, word] of [
        ['made', 'factory'],
        ['valued', 'value'],
      ] as const) {
        const task = await newcomer(url).task('go', { message: { metadata: { skill } } });
        expect(textOf(task.artifacts[0]!)).toBe(word);
      }
    });

    it('once, though an alias shows them a second time (PKG-04c)', async () => {
      const url = await bootWith({}, EchoSkills, { provide: 'ALIAS', useExisting: EchoSkills });
      await echoes(url);
    });

    it.each([
      null,
      undefined,
      0,
      'text',
      Symbol('s'),
      () => 1,
      [],
      {},
      Object.create(null),
      Date,
      new Date(),
      new Map(),
    ])('beside any other provider: %p (B-107)', async (useValue) => {
      await echoes(await bootWith({}, EchoSkills, { provide: 'ODD', useValue: useValue as unknown }));
    });

    it('beside providers with getters that throw, and methods that are none (B-107)', async () => {
      @Injectable()
      class Touchy {
        readonly skill = 5;

        get trap(): never {
          throw new Error('Do not touch.');
        }

        set other(_value: unknown) {
          throw new Error('Do not touch.');
        }
      }
      await echoes(await bootWith({}, EchoSkills, Touchy));
    });

    it('and freezes them: what it hands out changes nothing (PKG-07a)', async () => {
      const definition = { id: 'x', handler: () => 'first', tags: ['a'] };
      const url = await bootWith({ skills: [definition] });
      definition.tags.push('b');
      definition.handler = () => 'second';
      definition.id = 'y';
      const [skill] = service().skills();
      (skill as { id: string }).id = 'z';
      (skill?.tags as string[]).push('c');
      expect(service().skills()).toEqual([expect.objectContaining({ id: 'x', tags: ['a'] })]);
      const task = await newcomer(url).task('go');
      expect(textOf(task.artifacts[0]!)).toBe('first');
    });
  });

  describe('gives the host a handle', () => {
    it('that is not to be used before the application is there (PKG-07b)', async () => {
      const module = await Test.createTestingModule({
        imports: [A2AModule.forRoot(OPTIONS)],
        providers: [EchoSkills],
      }).compile();
      const handle = module.get(A2AService, { strict: false });
      for (const use of [
        () => handle.skills(),
        () => handle.capabilities(),
        () => {
          handle.setAllowedOrigins([]);
        },
      ]) {
        expect(use).toThrow(A2AConfigurationError);
        expect(use).toThrow('The agent is not ready before the application has been initialised.');
      }
      await module.init();
      expect(handle.skills()).toHaveLength(1);
      await module.close();
    });

    it('that tells what the agent can do, as its card does (PKG-07c)', async () => {
      const extensions = [{ uri: 'urn:x', required: false }];
      const url = await bootWith({ extensions }, EchoSkills);
      const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as AgentCard;
      expect(service().capabilities()).not.toHaveProperty('extendedAgentCard');
      expect(service().capabilities().extensions).toEqual(extensions);
      expect(card.capabilities).toMatchObject({
        streaming: service().capabilities().streaming,
        pushNotifications: service().capabilities().pushNotifications,
      });
      service().capabilities().extensions?.splice(0);
      expect(service().capabilities().extensions).toHaveLength(1);
    });

    it('that counts', async () => {
      const url = await bootWith({}, EchoSkills);
      expect(service().statistics()).toEqual({ executions: 0, liveRuns: 0, subscribers: 0, seats: 0 });
      await echoes(url);
      expect(service().statistics()).toEqual({ executions: 1, liveRuns: 0, subscribers: 0, seats: 0 });
    });
  });

  describe('takes the store', () => {
    class CountingStore extends MemoryTaskStore {
      created = 0;

      override create(draft: TaskDraft): Promise<void> {
        this.created++;
        return super.create(draft);
      }
    }

    it('as an instance (PKG-11a)', async () => {
      const store = new CountingStore();
      await echoes(await bootWith({ store }, EchoSkills));
      expect(store.created).toBe(1);
      expect(app!.get(TaskStore, { strict: false })).toBe(store);
    });

    it('as a class with dependencies of the imports (PKG-11b)', async () => {
      @Injectable()
      class Connection {
        readonly name = 'connection';
      }
      @Module({ providers: [Connection], exports: [Connection] })
      class ConnectionModule {}
      @Injectable()
      class InjectedStore extends CountingStore {
        constructor(readonly connection: Connection) {
          super();
        }
      }
      await echoes(await bootWith({ store: InjectedStore, imports: [ConnectionModule] }, EchoSkills));
      const store = app!.get<InjectedStore>(TaskStore, { strict: false });
      expect(store).toBeInstanceOf(InjectedStore);
      expect([store.connection.name, store.created]).toEqual(['connection', 1]);
    });

    it('as a class whose dependency is not there, only for the boot to fail', async () => {
      @Injectable()
      class Lost extends CountingStore {
        constructor(@Inject('NOBODY') readonly nobody: unknown) {
          super();
        }
      }
      await expect(bootWith({ store: Lost }, EchoSkills)).rejects.toThrow(/NOBODY/u);
    });

    it('as a provider of the application, wherever that is, and however late it is made (PKG-11b)', async () => {
      @Injectable()
      class LateStore extends CountingStore {
        constructor(@Inject('LATE') readonly late: string) {
          super();
        }
      }
      @Module({
        providers: [
          LateStore,
          { provide: 'LATE', useFactory: () => new Promise((resolve) => setTimeout(resolve, 20, 'connected')) },
        ],
      })
      class StoreModule {}
      const url = await boot({
        imports: [A2AModule.forRoot({ ...OPTIONS, store: { useExisting: LateStore } }), StoreModule],
        providers: [EchoSkills],
      });
      await echoes(url);
      const store = app!.get(LateStore, { strict: false });
      expect([store.late, store.created]).toEqual(['connected', 1]);
      expect((await newcomer(url).list()).totalSize).toBe(0);
    });

    it.each(['STORE', Symbol('STORE')])(
      'by the token of a provider of the application: %p (PKG-11b)',
      async (token) => {
        const store = new CountingStore();
        const url = await bootWith({ store: { useExisting: token } }, EchoSkills, { provide: token, useValue: store });
        await echoes(url);
        expect(store.created).toBe(1);
      },
    );

    it('by a token that nobody provides, only for the boot to fail', async () => {
      await expect(bootWith({ store: { useExisting: 'NOBODY' } }, EchoSkills)).rejects.toThrow(/NOBODY/u);
    });

    it('in memory when there is none, with the history of the options (PKG-11a, LIFE-13a)', async () => {
      const url = await bootWith({
        maxHistory: 2,
        skills: [
          {
            id: 'talker',
            handler: async (task) => {
              for (const step of ['a', 'b', 'c']) await task.progress(step);
            },
          },
        ],
      });
      const alice = newcomer(url);
      const { id } = await alice.task('go');
      expect((await alice.get(id)).history.map(textOf)).toEqual(['b', 'c']);
    });
  });
});
