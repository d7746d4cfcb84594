import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../config/config-error.js';
import { explainStartFailure } from './start-failure.js';

describe('explainStartFailure', () => {
  it('names the command that compiles a package without a binary for this platform', () => {
    // The message of node-gyp-build 4.
    const error = new Error(
      'No native build was found for platform=darwin arch=x64 runtime=node abi=137 uv=1 libc=glibc node=24.9.0\n' +
        '    loaded from: /srv/my app/node_modules/argon2\n',
    );

    const lines = explainStartFailure(error).split('\n');

    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('argon2 has no binary for platform=darwin arch=x64');
    expect(lines[0]).toContain('npm rebuild argon2 --build-from-source --ignore-scripts=false');
    expect(lines[0]).toContain('C++ compiler and Python');
  });

  it.each([
    ['SQLITE_FULL', 'free some space'],
    ['ENOSPC', 'free some space'],
    ['SQLITE_READONLY_DIRECTORY', 'able to write'],
    ['EROFS', 'able to write'],
    ['SQLITE_NOTADB', 'restore a backup'],
    ['SQLITE_CORRUPT', 'restore a backup'],
    ['SQLITE_IOERR_WRITE', 'check the folder'],
  ])('advises what to do about %s', (code, advice) => {
    const line = explainStartFailure(Object.assign(new Error('what it says'), { code }));

    expect(line).toMatch(/^DATA_DIR cannot be used: what it says; [^\n]+$/);
    expect(line).toContain(advice);
  });

  it('prints only the message of a ConfigError, and the stack of any other error', () => {
    expect(explainStartFailure(new ConfigError('PORT must be a number'))).toBe('PORT must be a number');

    const error = new Error('unexpected');
    expect(explainStartFailure(error)).toBe(error.stack);
    expect(explainStartFailure('text')).toBe('text');
  });
});
