// Prints how many tests passed and how many failed, from the file that jest writes with --json --outputFile:
//
//   node .ci/count-tests.mjs FILE EXIT_CODE
//
// A file of tests that could not be run is one failure, and so is an exit code that no failed test explains.
import { existsSync, readFileSync } from 'node:fs';

const [file, exitCode] = process.argv.slice(2);
const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = existsSync(file)
  ? JSON.parse(readFileSync(file, 'utf8'))
  : { numPassedTests: 0, numFailedTests: 0, numRuntimeErrorTestSuites: 0 };
const failed = numFailedTests + numRuntimeErrorTestSuites;
console.log(numPassedTests, failed === 0 && exitCode !== '0' ? 1 : failed);
