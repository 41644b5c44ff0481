import { ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { DevelopmentTokens } from './auth/development-tokens.js';
import { welcome } from './welcome.js';

const app = await NestFactory.create(AppModule);
const config = app.get(ConfigService);
// So that live tasks are brought to an end when the process is told to stop.
app.enableShutdownHooks();
await app.listen(config.get<string>('PORT', '3000'), config.get<string>('HOST', '127.0.0.1'));

if (config.get<string>('NODE_ENV') !== 'production') {
  console.log(welcome(await app.getUrl(), app.get(DevelopmentTokens).issue()));
}
