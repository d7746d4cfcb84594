import { join } from 'node:path';
import { it } from '@jest/globals';
import { BIN, run } from './tools.js';

it('the reference follows the rules of Spectral', async () => {
  const options = ['--quiet', '--fail-severity=hint', '--ruleset', 'test/extra/.spectral.yaml'];
  await run(join(BIN, 'spectral'), ['lint', ...options, 'public/openapi.json']);
});
