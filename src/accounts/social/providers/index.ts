import type { SocialProviderName } from '../../../platform/config/social.js';
import { github } from './github.js';
import { google } from './google.js';
import type { SocialProvider } from './social-provider.js';

/** All providers, by their name in paths. */
export const providers: { readonly [Name in SocialProviderName]: SocialProvider<Name> } = { google, github };
