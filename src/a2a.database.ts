import { Module, type DynamicModule, type Provider } from '@nestjs/common';

/** The injection token of the host's DataSource; `undefined` when it has none. */
export const A2A_DATA_SOURCE = Symbol('A2A_DATA_SOURCE');

/** Which DataSource of the host tasks are kept in, and how. */
export interface DatabaseOptions {
  /** The name of the DataSource. @default the default one */
  readonly dataSource?: string;
  /** A plain identifier before the names of the tables. @default 'a2a_' */
  readonly tablePrefix?: string;
  /** Whether missing tables are created at boot. Else run the migration of your own. @default true */
  readonly createTables?: boolean;
}

/** Finds the DataSource of an application that has one. */
@Module({})
class DatabaseModule {}

/**
 * Makes the module that finds the host's DataSource, and registers the entities for `autoLoadEntities`.
 *
 * TypeORM is only loaded here, and only when it is installed.
 */
export async function databaseModule(options: DatabaseOptions | false): Promise<DynamicModule> {
  const provider = options === false ? NO_DATA_SOURCE : await dataSourceProvider(options);
  return { module: DatabaseModule, providers: [provider], exports: [A2A_DATA_SOURCE] };
}

const NO_DATA_SOURCE: Provider = { provide: A2A_DATA_SOURCE, useValue: undefined };

async function dataSourceProvider({ dataSource, tablePrefix }: DatabaseOptions): Promise<Provider> {
  const nestTypeOrm = await import('@nestjs/typeorm').catch(() => undefined);
  if (!nestTypeOrm) return NO_DATA_SOURCE;
  const { a2aEntities } = await import('./store/typeorm/a2a-entities.js');
  // Called for what it notes, not for the module that it makes: that one needs a DataSource.
  nestTypeOrm.TypeOrmModule.forFeature(a2aEntities(tablePrefix === undefined ? {} : { tablePrefix }), dataSource);
  return {
    provide: A2A_DATA_SOURCE,
    inject: [{ token: nestTypeOrm.getDataSourceToken(dataSource), optional: true }],
    useFactory: (found: unknown) => found,
  };
}
