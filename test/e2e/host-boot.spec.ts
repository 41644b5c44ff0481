import {
  All,
  Controller,
  Get,
  Injectable,
  Module,
  Post,
  RequestMethod,
  VersioningType,
  type Type,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { describe, expect, it } from '@jest/globals';
import {
  A2AConfigurationError,
  A2AService,
  AGENT_CARD_PATH,
  MemoryTaskStore,
  SkillRouter,
  type TaskKey,
  type TaskRecord,
} from 'nestjs-a2a';
import { ADAPTERS, startAgent, type AgentSetup } from '../support/agent.js';
import { bodyless, postBytes } from '../support/http-client.js';
import { rpc, send } from '../support/rpc.js';
import { EchoSkill, WireSkills } from '../support/wire-skills.js';

const LIST = '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}';

@Controller('a2a')
class SamePath {
  @Post()
  take(): string {
    return 'mine';
  }
}

@Controller('.well-known')
class OwnCard {
  @Get('agent-card.json')
  card(): string {
    return 'mine';
  }
}

@Controller('.well-known')
class OwnKeys {
  @Get('jwks.json')
  keys(): string {
    return 'mine';
  }
}

@Controller()
class SamePathByMethod {
  @All(['elsewhere', '/a2a/'])
  take(): string {
    return 'mine';
  }
}

@Controller('A2A')
class SamePathInCapitals {
  @Post()
  take(): string {
    return 'mine';
  }
}

@Controller({ path: 'a2a', version: '1' })
class SamePathInAVersion {
  @Post()
  take(): string {
    return 'mine';
  }
}

@Controller('a2a')
class SamePathByGet {
  @Get()
  show(): string {
    return 'mine';
  }
}

@Controller('a2a')
class BelowIt {
  @Post('files')
  take(): string {
    return 'files';
  }
}

@Controller()
class BelowXController {
  @Post('a2a')
  take(): string {
    return 'mine';
  }
}

@Module({ controllers: [BelowXController] })
class BelowX {}

const routedAt = (path: string) => RouterModule.register([{ path, module: BelowX }]);

describe.each(ADAPTERS)('the path of the endpoint on %s', (adapter) => {
  const start = (setup: Omit<AgentSetup, 'adapter'> = {}) => startAgent({ adapter, skills: [EchoSkill], ...setup });
  const statusAt = async (url: string, path: string) => (await postBytes(url, LIST, { path })).status;

  /** Boots, asks and closes. */
  async function asked<T>(setup: Omit<AgentSetup, 'adapter'>, ask: (url: string) => Promise<T>): Promise<T> {
    const agent = await start(setup);
    try {
      return await ask(agent.url);
    } finally {
      await agent.close();
    }
  }

  it('is /a2a (PKG-06)', async () => {
    expect(await asked({}, (url) => statusAt(url, '/a2a'))).toBe(200);
  });

  it.each(['/agent', '/v1/agents/invoices', '/a2a.v1', '/a-b_c~d'])('can be %s (PKG-06)', async (path) => {
    const setup: Omit<AgentSetup, 'adapter'> = { options: { path } };
    await asked(setup, async (url) => {
      expect(await statusAt(url, path)).toBe(200);
      expect(await statusAt(url, `${path}/`)).toBe(200);
      expect(await statusAt(url, '/a2a')).toBe(404);
      const card = await bodyless(url, 'GET', { path: AGENT_CARD_PATH });
      expect(card.body.supportedInterfaces[0].url).toBe(url + path);
    });
  });

  it.each([
    '',
    '/',
    'a2a',
    '/a2a/',
    '//a2a',
    '/a2a//x',
    '/:id',
    '/*',
    '/a2a?x',
    '/a b',
    '/a2a#x',
    '/ä',
    'http://x/a2a',
    '/(a|b)',
  ])('cannot be %j, which fails the boot with the cure (PKG-06)', async (path) => {
    const boot = start({ options: { path } });
    await expect(boot).rejects.toThrow(A2AConfigurationError);
    await expect(boot).rejects.toThrow(/must start with "\/".*such as "\/a2a"/u);
  });

  it.each<[string, Type, AgentSetup['configure']]>([
    ['a controller', SamePath, undefined],
    ['a method', SamePathByMethod, undefined],
    ['a controller below the prefix', SamePath, (app) => void app.setGlobalPrefix('api')],
    [
      'a controller that is excluded from the prefix, as the endpoint is',
      SamePath,
      (app) => void app.setGlobalPrefix('api', { exclude: [{ path: 'a2a', method: RequestMethod.POST }] }),
    ],
    ['a controller without a version', SamePath, (app) => void app.enableVersioning()],
  ])('that is taken by %s fails the boot, naming it (PKG-06)', async (_kind, controller, configure) => {
    const boot = start({ controllers: [controller], ...(configure && { configure }) });
    await expect(boot).rejects.toThrow(/SamePath|Method 'POST' already declared/u);
  });

  it('that is taken below the prefix of a module, or of a version, fails the boot (PKG-06)', async () => {
    const below = start({ imports: [routedAt('x'), BelowX], options: { path: '/x/a2a' } });
    await expect(below).rejects.toThrow(/BelowXController\.take|already declared/u);
    const configure: AgentSetup['configure'] = (app) => void app.enableVersioning();
    const versioned = start({ controllers: [SamePathInAVersion], configure, options: { path: '/v1/a2a' } });
    await expect(versioned).rejects.toThrow(/SamePathInAVersion\.take|already declared/u);
  });

  it('leaves no room for a well-known document that the host has itself, which fails the boot (CARD-01, CARD-11)', async () => {
    const boot = start({ controllers: [OwnCard] });
    await expect(boot).rejects.toThrow(/OwnCard\.card is mounted at|already declared/u);
    await asked({ controllers: [OwnKeys] }, async (url) => {
      expect((await bodyless(url, 'GET', { path: '/.well-known/jwks.json' })).text).toBe('mine');
    });
  });

  it('that differs in case is taken as well where the router does not care (PKG-06)', async () => {
    if (adapter === 'fastify') return;
    await expect(start({ controllers: [SamePathInCapitals] })).rejects.toThrow(/SamePathInCapitals\.take/u);
  });

  it('is not taken by a route of a version or module, by GET, or by routes below it (PKG-06)', async () => {
    const configure: AgentSetup['configure'] = (app) => void app.enableVersioning({ type: VersioningType.URI });
    await asked({ controllers: [SamePathInAVersion], configure }, async (url) => {
      expect(await statusAt(url, '/a2a')).toBe(200);
      expect((await postBytes(url, '{}', { path: '/v1/a2a' })).text).toBe('mine');
    });
    await asked({ imports: [routedAt('x'), BelowX] }, async (url) => {
      expect(await statusAt(url, '/a2a')).toBe(200);
      expect((await postBytes(url, '{}', { path: '/x/a2a' })).text).toBe('mine');
    });
    await asked({ controllers: [SamePathByGet, BelowIt] }, async (url) => {
      expect(await statusAt(url, '/a2a')).toBe(200);
      expect((await bodyless(url, 'GET', { path: '/a2a' })).status).toBe(405);
      expect((await postBytes(url, '{}', { path: '/a2a/files' })).text).toBe('files');
    });
  });
});

@Injectable()
class Needed {
  readonly skill: string = 'echo';
}

@Injectable()
class HostStore extends MemoryTaskStore {
  reads = 0;

  constructor(readonly needed: Needed) {
    super(200);
  }

  override async read(key: TaskKey): Promise<TaskRecord> {
    if (this.needed.skill === 'echo') this.reads += 1;
    return super.read(key);
  }
}

@Injectable()
class HostRouter extends SkillRouter {
  constructor(
    readonly needed: Needed,
    readonly agent: A2AService,
  ) {
    super();
  }

  route(): string {
    return this.agent.skills().length > 0 ? this.needed.skill : 'none';
  }
}

describe.each(ADAPTERS)('a port on %s', (adapter) => {
  it('can be a provider of the application, with what it needs, even of the agent (PKG-11b, ROUTE-05)', async () => {
    const agent = await startAgent({
      adapter,
      skills: [WireSkills],
      options: { store: { useExisting: HostStore }, router: { useExisting: HostRouter } },
      providers: [Needed, HostStore, HostRouter],
    });
    try {
      const { task } = (await send(agent.url, 'hi')).body.result;
      expect(task.artifacts[0].parts).toEqual([{ text: 'hi' }]);
      const got = await rpc(agent.url, 'GetTask', { id: task.id });
      expect(got.body.result).toEqual(task);
      expect(agent.app.get(HostStore).reads).toBe(1);
    } finally {
      await agent.close();
    }
  });

  it('that is no provider of the application fails the boot (PKG-11b)', async () => {
    const boot = startAgent({ adapter, skills: [WireSkills], options: { store: { useExisting: HostStore } } });
    await expect(boot).rejects.toThrow(/HostStore/u);
  });
});
