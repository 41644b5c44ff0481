import {
  Body,
  Catch,
  ClassSerializerInterceptor,
  Controller,
  Get,
  HttpStatus,
  Injectable,
  Post,
  RequestMethod,
  Req,
  ValidationPipe,
  VersioningType,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type INestApplication,
  type NestInterceptor,
  type Provider,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, Reflector } from '@nestjs/core';
import compression from 'compression';
import { IsInt } from 'class-validator';
import { map, type Observable } from 'rxjs';
import type { AgentSetup } from './agent.js';

/** Puts every answer of the host into an envelope of its own. */
@Injectable()
export class WrappingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data, wrapped: true })));
  }
}

/** Takes for granted that every handler of the host returns an object. */
@Injectable()
export class UnwaryInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: object) => ({ keys: Object.keys(data) })));
  }
}

/** Answers every error of the host in words of its own. */
@Catch()
export class OwnFilter implements ExceptionFilter {
  catch(_exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<{
      status?(code: number): { json?(body: unknown): void; send(body: unknown): void };
    }>();
    response.status?.(HttpStatus.I_AM_A_TEAPOT).send({ ours: true });
  }
}

/** Lets everybody through, after a look at the route. */
@Injectable()
export class AllowingGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    this.reflector.getAllAndOverride<unknown>('roles', [context.getHandler(), context.getClass()]);
    return true;
  }
}

class Numbers {
  @IsInt()
  a!: number;
}

/** Routes of the host that have nothing to do with the agent, some of them near it. */
@Controller()
export class HostController {
  @Get('hello')
  hello(): object {
    return { hello: 'world' };
  }

  @Post('numbers')
  numbers(@Body() numbers: Numbers): object {
    return { a: numbers.a };
  }

  @Post(['a2a-other', 'a2a/below', 'other/a2a'])
  near(@Body() body: unknown): object {
    return { body };
  }

  @Get('a2a/below')
  below(): object {
    return { below: true };
  }

  @Post('raw')
  raw(@Req() request: { rawBody?: Buffer }): object {
    return { raw: request.rawBody?.toString('utf8') ?? null };
  }
}

/** Takes every path that no one else has taken, as a host of a single-page application does. */
@Controller()
export class CatchAllController {
  @Get('*')
  page(): string {
    return '<html>page</html>';
  }
}

/** A host that does something which could get in the way of the protocol. */
export interface HostileHost extends Pick<AgentSetup, 'appOptions' | 'configure' | 'controllers' | 'providers'> {
  readonly name: string;
  /** @default '/a2a' */
  readonly endpoint?: string;
  /** Where the host's own routes are. @default '' */
  readonly routes?: string;
}

const global = (
  token: string,
  useClass: Provider extends never ? never : new (...args: never[]) => object,
): Provider => ({
  provide: token,
  useClass,
});

const strictPipe = () => new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true });

/** The hosts that the protocol must be the same on. */
export const HOSTILE_HOSTS: readonly HostileHost[] = [
  { name: 'nothing of its own' },
  { name: 'no body parser', appOptions: { bodyParser: false } },
  { name: 'rawBody', appOptions: { rawBody: true } },
  {
    name: 'a global prefix',
    endpoint: '/api/a2a',
    routes: '/api',
    configure: (app) => void app.setGlobalPrefix('api'),
  },
  {
    name: 'a global prefix of two segments with slashes',
    endpoint: '/api/internal/a2a',
    routes: '/api/internal',
    configure: (app) => void app.setGlobalPrefix('/api/internal/'),
  },
  {
    name: 'a global prefix that the endpoint is excluded from',
    endpoint: '/a2a',
    routes: '/api',
    configure: (app) => void app.setGlobalPrefix('api', { exclude: ['a2a'] }),
  },
  {
    name: 'a global prefix that all methods of the endpoint are excluded from',
    endpoint: '/a2a',
    routes: '/api',
    configure: (app) =>
      void app.setGlobalPrefix('api', { exclude: [{ path: '/a2a', method: RequestMethod.ALL }, 'health'] }),
  },
  {
    name: 'a global prefix that POST on the endpoint is excluded from',
    endpoint: '/a2a',
    routes: '/api',
    configure: (app) => void app.setGlobalPrefix('api', { exclude: [{ path: 'a2a', method: RequestMethod.POST }] }),
  },
  { name: 'URI versioning', configure: (app) => void app.enableVersioning() },
  {
    name: 'URI versioning with a default version, below a prefix',
    endpoint: '/api/a2a',
    routes: '/api/v2',
    configure: (app) =>
      void app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI, defaultVersion: '2' }),
  },
  {
    name: 'header versioning',
    configure: (app) => void app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' }),
  },
  {
    name: 'media type versioning',
    configure: (app) => void app.enableVersioning({ type: VersioningType.MEDIA_TYPE, key: 'v=' }),
  },
  { name: 'a strict ValidationPipe', configure: (app) => void app.useGlobalPipes(strictPipe()) },
  {
    name: 'interceptors that wrap and serialise',
    configure: (app) =>
      void app.useGlobalInterceptors(new WrappingInterceptor(), new ClassSerializerInterceptor(app.get(Reflector))),
  },
  {
    name: 'an interceptor that fails on our handler',
    configure: (app) => void app.useGlobalInterceptors(new UnwaryInterceptor()),
  },
  { name: 'an exception filter', configure: (app) => void app.useGlobalFilters(new OwnFilter()) },
  {
    name: 'enhancers among its providers',
    providers: [
      global(APP_GUARD, AllowingGuard),
      global(APP_INTERCEPTOR, WrappingInterceptor),
      global(APP_FILTER, OwnFilter),
      { provide: APP_PIPE, useFactory: strictPipe },
    ],
  },
  { name: 'compression', configure: (app) => void app.use(compression({ threshold: 0 })) },
  {
    name: 'middleware that answers in its own JSON',
    configure: (app) => void app.use(rewriteJson),
  },
];

/** Changes what `response.json` and `response.send` of Express write. */
function rewriteJson(
  _request: unknown,
  response: { json?: (body: unknown) => unknown; send?: (body: unknown) => unknown },
  next: () => void,
): void {
  const { json } = response;
  if (json) response.json = (body: unknown) => json.call(response, { body, rewritten: true });
  next();
}

interface FastifyLike {
  addHook(name: 'onSend', hook: (request: unknown, reply: unknown, payload: unknown) => Promise<unknown>): void;
}

/** Gives an application a hook of Fastify that answers later than at once, as plugins do. */
export function delaySending(app: INestApplication): void {
  const fastify: unknown = app.getHttpAdapter().getInstance();
  (fastify as FastifyLike).addHook('onSend', async (_request, _reply, payload) => {
    await new Promise((resolve) => setImmediate(resolve));
    return payload;
  });
}
