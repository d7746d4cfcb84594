import {
  allowInsecureRequests,
  type Configuration,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
} from 'openid-client';
import { type SocialProfile, type SocialTokens, textOf } from './social-provider.js';

/** In seconds, for each request to a provider. */
export const TIMEOUT = 5;

/** Plain HTTP only if the setting allows it, which is possible for this machine only. */
export const allowHttp = (address: string) =>
  new URL(address).protocol === 'http:' ? [allowInsecureRequests] : [];

/** The client of an OpenID provider, from its metadata (OpenID Connect Discovery 1.0). */
export function discover(
  issuer: string,
  { clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string },
): Promise<Configuration> {
  return discovery(new URL(issuer), clientId, clientSecret, undefined, {
    timeout: TIMEOUT,
    // The signature of the ID token is checked, even over HTTPS.
    execute: [...allowHttp(issuer), enableNonRepudiationChecks],
  });
}

/** The standard claims (OpenID Connect Core 1.0, section 5.1), from the ID token or else from the user info. */
export async function openIdProfile(
  configuration: Configuration,
  tokens: SocialTokens,
): Promise<SocialProfile> {
  const token = tokens.claims()!;
  const claims =
    token['email'] === undefined
      ? { ...(await fetchUserInfo(configuration, tokens.access_token, token.sub)) }
      : token;
  const { email, name } = claims as Record<string, unknown>;
  return {
    subject: token.sub,
    email: textOf(email),
    emailVerified: claims['email_verified'] === true,
    name: textOf(name),
  };
}
