import type { INestApplication, NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import type { SutSettings } from './settings.js';

/** Makes the application, without listening yet. */
export function createSut({ adapter, ...settings }: Omit<SutSettings, 'port'>): Promise<INestApplication> {
  const module = AppModule.with(settings);
  const options: NestApplicationOptions = { logger: ['error', 'warn'], forceCloseConnections: true };
  return adapter === 'fastify'
    ? NestFactory.create(module, new FastifyAdapter(), options)
    : NestFactory.create(module, options);
}
