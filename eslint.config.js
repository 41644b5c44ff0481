import prettier from 'eslint-config-prettier/flat';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  globalIgnores(['dist/', 'coverage/', '.data/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{ts,mts,cts}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: 'error',
      // The types of a provider's constructor parameters are read at run time, so they are value imports.
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    },
  },
  {
    files: ['{src,libs}/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-console': 'error',
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'exit', message: 'The process belongs to the application.' },
      ],
      'no-restricted-imports': [
        'error',
        { paths: ['node:process', 'process'].map((name) => ({ name, importNames: ['exit'] })) },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'libs/testing/**/*.ts', '**/*.spec.ts'],
    rules: {
      // An async fake keeps the signature of what it stands for.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      // expect(port.method) looks at a mock, it does not call it.
      '@typescript-eslint/unbound-method': 'off',
      // A value that is not there fails the test, which is the point.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Answers are looked into freely; the expectations are their types.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['**/*.{js,mjs,cjs}'],
    extends: [tseslint.configs.strict],
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  prettier,
);
