import { createRequire } from 'node:module';
import type { AddressInfo, Server } from 'node:net';
import { dirname, join } from 'node:path';
import type { ConfigService } from '@nestjs/config';
import type { HttpAdapterHost } from '@nestjs/core';
import type { TypeOrmModuleOptions } from '@nestjs/typeorm';

/** Where invoices and tasks are kept. @default the SQLite file `.data/invoices.sqlite` in the project's root */
export function database(config: ConfigService): TypeOrmModuleOptions {
  const url = config.get<string>('DATABASE_URL');
  if (url) return { type: 'postgres', url };
  return { type: 'better-sqlite3', database: dataFile(config), enableWAL: true };
}

/** Where files of this application are kept. */
export function dataFolder(config: ConfigService): string {
  return dirname(dataFile(config));
}

function dataFile(config: ConfigService): string {
  const root = dirname(createRequire(import.meta.url).resolve('nestjs-a2a/package.json'));
  return config.get<string>('DATA_FILE') ?? join(root, '.data', 'invoices.sqlite');
}

/** Where the application can be reached. @default the port that it listens on, which port 0 leaves to the system */
export function publicUrl(config: ConfigService, { httpAdapter }: HttpAdapterHost): string {
  const { port } = (httpAdapter.getHttpServer() as Server).address() as AddressInfo;
  return config.get<string>('PUBLIC_URL') ?? `http://127.0.0.1:${port}`;
}
