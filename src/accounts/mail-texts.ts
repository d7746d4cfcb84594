import { type MailMessage, render } from '../platform/mail/index.js';

// The texts of mails about accounts. They must not contain input of unknown people:
// anyone could register another person's address and send them a text.

type Text = Omit<MailMessage, 'to'>;

/** After a registration, to the given address. */
export const verifyEmail = (url: string): Text =>
  render({
    subject: 'Confirm your e-mail address',
    paragraphs: [
      'An account was created with this e-mail address. Confirm that the address is yours.',
      'The link is valid for 24 hours and works once.',
      'If you did not create the account, do not confirm it. You can ignore this mail.',
    ],
    link: { label: 'Confirm the address', url },
  });

/** To the new address of an account. */
export const changeEmail = (url: string): Text =>
  render({
    subject: 'Confirm your new e-mail address',
    paragraphs: [
      'Someone wants to use this e-mail address for their account. Confirm that this was you.',
      'The link is valid for 24 hours and works once. Until you confirm, the account keeps its old address.',
      'If this was not you, you can ignore this mail.',
    ],
    link: { label: 'Use this address', url },
  });

/** To the old address of an account. */
export const emailChangeRequested = (): Text =>
  render({
    subject: 'Your e-mail address is about to change',
    paragraphs: [
      'A new e-mail address was requested for your account. The change takes effect when the new address is confirmed.',
      'If this was not you, someone knows your password: change it now. This also stops the change of the address.',
    ],
  });

/** To the owner of an address that another account has requested. */
export const emailTaken = (): Text =>
  render({
    subject: 'You already have an account',
    paragraphs: [
      'Someone wants to use this e-mail address for another account. You already have an account with this address, so nothing has changed.',
      'If this was you, log in to the account with this address. If you do not remember its password, reset it.',
      'If this was not you, you can ignore this mail.',
    ],
  });

/** To the owner of an account with a forgotten password. */
export const resetPassword = (url: string): Text =>
  render({
    subject: 'Reset your password',
    paragraphs: [
      'A new password was requested for your account. Choose it on the page behind this link.',
      'The link is valid for 1 hour and works once. The new password ends all logins of the account.',
      'If this was not you, you can ignore this mail: your password stays as it is.',
    ],
    link: { label: 'Choose a new password', url },
  });

/** What was changed, and what it means. */
const NOTICES = {
  'password-changed': ['Your password was changed', 'The password of your account was changed.'],
  'email-changed': [
    'Your e-mail address was changed',
    'The e-mail address of your account was changed. Mails about it go to the new address.',
  ],
  'identity-added': [
    'A way to log in was added',
    'An identity at another provider was linked to your account. It can log in now.',
  ],
  'identity-removed': ['A way to log in was removed', 'An identity at another provider was removed.'],
  'passkey-added': [
    'A passkey was added',
    'A passkey was added to your account. It can log in now, without a password.',
  ],
  'passkey-removed': ['A passkey was removed', 'A passkey was removed from your account.'],
  'factor-added': [
    'Two-step login is on',
    'An authenticator app was added to your account. A login with a password needs a code of it now.',
  ],
  'factor-removed': [
    'Two-step login is off',
    'The authenticator app was removed from your account. A password alone can log in now.',
  ],
  'codes-wrong': [
    'Wrong codes were entered for your account',
    'Five wrong codes of an authenticator app were entered for your account, by someone who had logged in or knew its password.',
  ],
  'api-key-added': [
    'An API key was created',
    'An API key was created for your account. Programs that have it act as you.',
  ],
  'api-key-removed': ['An API key was deleted', 'An API key of your account was deleted.'],
  deactivated: [
    'Your account was deactivated',
    'The operators of this service have deactivated your account. Nobody can log in to it.',
  ],
  'rights-changed': [
    'The rights of your account were changed',
    'The operators of this service have changed what your account may do. Its logins have ended.',
  ],
} as const;

export type Notice = keyof typeof NOTICES;

/** To the owner of an account, after a change of how one can log in to it. */
export function notice(kind: Notice): Text {
  const [subject, sentence] = NOTICES[kind];
  return render({
    subject,
    paragraphs: [
      sentence,
      'If this was you, there is nothing to do.',
      'If this was not you, someone else uses your account: reset your password now, which ends all logins, and check how one can log in.',
    ],
  });
}
