import { readSettings } from './settings.js';
import { createSut } from './sut.js';

async function bootstrap(): Promise<void> {
  const settings = readSettings(process.env);
  const app = await createSut(settings);
  app.enableShutdownHooks();
  await app.listen(settings.port, '127.0.0.1');
  console.log(`listening on ${await app.getUrl()}`);
}

bootstrap().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
