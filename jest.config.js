/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['a2a-source', 'node', 'node-addons'] },
  testMatch: ['<rootDir>/{src,libs,apps,test}/**/*.spec.ts'],
  globalSetup: '<rootDir>/test/support/postgres.setup.mjs',
  globalTeardown: '<rootDir>/test/support/postgres.teardown.mjs',
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  maxWorkers: 2,
  // Machines are busy at times; what hangs still fails.
  testTimeout: 30_000,
  workerIdleMemoryLimit: '1GB',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        sourceMaps: 'inline',
        module: { type: 'es6' },
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: true },
          keepClassNames: true,
        },
      },
    ],
  },
};
