import { describe, expect, it } from '@jest/globals';
import { ANY_DATABASE } from '../../../test/support/stores.js';
import { loadConfig } from './load-config.js';

const JWT_SECRET = 'as'.repeat(16);
const load = (environment: NodeJS.ProcessEnv) => loadConfig({ ...ANY_DATABASE, JWT_SECRET, ...environment });

const GOOGLE = { GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'hush' };

describe('the settings of social login', () => {
  it('include only the providers that have an id and a secret', () => {
    const { clients } = load({ ...GOOGLE, GITHUB_URL: 'https://git.example.com' }).social;

    expect(clients).toEqual({
      google: { clientId: 'id', clientSecret: 'hush', addresses: { issuer: 'https://accounts.google.com' } },
    });
  });

  it('accept other provider addresses', () => {
    const { clients } = load({
      GITHUB_CLIENT_ID: 'id',
      GITHUB_CLIENT_SECRET: 'hush',
      GITHUB_URL: 'https://git.example.com',
      GITHUB_API_URL: 'http://localhost:3001/api/v3',
    }).social;

    expect(clients.github!.addresses).toEqual({
      url: 'https://git.example.com',
      api_url: 'http://localhost:3001/api/v3',
    });
  });

  it('are deeply frozen', () => {
    const { social } = load(GOOGLE);

    for (const part of [social, social.clients, social.clients.google, social.clients.google!.addresses]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it.each([
    [{ GOOGLE_CLIENT_ID: 'id' }, 'GOOGLE_CLIENT_SECRET must be set together with GOOGLE_CLIENT_ID'],
    [{ GITHUB_CLIENT_SECRET: 'hush' }, 'GITHUB_CLIENT_ID must be set together with GITHUB_CLIENT_SECRET'],
    [{ GOOGLE_ISSUER: 'http://accounts.example.com' }, 'GOOGLE_ISSUER must be an https address'],
    [{ GOOGLE_ISSUER: 'http://127.0.0.1.evil.example' }, 'GOOGLE_ISSUER must be an https address'],
    [{ GOOGLE_ISSUER: 'https://accounts.example.com?x' }, 'GOOGLE_ISSUER must be an https address'],
    [{ GITHUB_URL: 'github.com' }, 'GITHUB_URL must be an https address'],
    [{ GITHUB_API_URL: 'ftp://github.com' }, 'GITHUB_API_URL must be an https address'],
    [{ PUBLIC_URL: 'api.example.com' }, 'PUBLIC_URL must be the address of this service'],
    [{ PUBLIC_URL: 'https://api.example.com/?x=1' }, 'PUBLIC_URL must be the address of this service'],
    [{ SOCIAL_LOGIN_REDIRECT: '/welcome' }, 'SOCIAL_LOGIN_REDIRECT must be an address'],
    [{ SOCIAL_LOGIN_REDIRECT: 'javascript:alert(1)' }, 'SOCIAL_LOGIN_REDIRECT must be an address'],
    [{ SOCIAL_LOGIN_REDIRECT: 'https://a.example/#x' }, 'SOCIAL_LOGIN_REDIRECT must be an address'],
    [{ ...GOOGLE, NODE_ENV: 'production' }, 'PUBLIC_URL must be set for social login'],
  ])('reject %j by name, and never show the value', (environment, message) => {
    expect(() => load(environment)).toThrow(message);
    expect(() => load(environment)).not.toThrow('hush');
  });

  it.each([
    [{}, 'http://127.0.0.1:3000'],
    [{ HOST: '::1', PORT: '80' }, 'http://[::1]:80'],
    [{ PUBLIC_URL: 'https://api.example.com/' }, 'https://api.example.com'],
    [{ PUBLIC_URL: 'https://example.com/api' }, 'https://example.com/api'],
  ])('derive the address of the service from %j: %s', (environment, publicUrl) => {
    expect(load(environment).publicUrl).toBe(publicUrl);
  });

  it('accept a redirect to the URL scheme of an app', () => {
    expect(load({ SOCIAL_LOGIN_REDIRECT: 'com.example.app:/welcome' }).social.redirect).toBe(
      'com.example.app:/welcome',
    );
  });
});
