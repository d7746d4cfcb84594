import { discover, openIdProfile } from './open-id.js';
import type { SocialProvider } from './social-provider.js';

/** https://developers.google.com/identity/openid-connect/openid-connect */
export const google: SocialProvider<'google'> = {
  scope: 'openid email profile',
  openId: true,
  configure: (client) => discover(client.addresses.issuer, client),
  identify: openIdProfile,
};
