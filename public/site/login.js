// The login of all pages: by password, with a second step, or by passkey.

import { button, element, field, form } from './elements.js';
import { credential, wrongHost } from './passkeys.js';
import { begin, call } from './session.js';

export const codeField = () =>
  field('Code', { name: 'code', autocomplete: 'one-time-code', required: true, maxLength: 100 });

/**
 * @param into the element that gets the form
 * @param report shows a sentence, and whether it is an error
 * @param done called when somebody is logged in
 * @param more elements below the form
 */
export function showLogin(into, report, done, ...more) {
  into.replaceChildren(
    form(
      'Log in',
      [
        field('E-mail', {
          id: 'email',
          name: 'email',
          type: 'email',
          autocomplete: 'username',
          required: true,
        }),
        field('Password', {
          id: 'current-password',
          name: 'password',
          type: 'password',
          autocomplete: 'current-password',
          required: true,
        }),
      ],
      async (values) => finish(await call('POST', 'session/', values)),
    ),
    element('div', { className: 'ways' }, button('Log in with a passkey', byPasskey), ...more),
  );
  into.querySelector('input').focus();

  function finish(reply) {
    finishLogin(into, report, done, reply, () => showLogin(into, report, done, ...more));
  }

  async function byPasskey() {
    const options = await call('POST', 'passkeys/login/options/', {});
    if (!options.ok) return report(options.message, true);
    const host = wrongHost(options.body);
    if (host) return report(host, true);
    const passkey = await credential('get', options.body);
    if (passkey === null) return report('No passkey was used.', true);
    return finish(await call('POST', 'session/', { passkey }));
  }
}

/**
 * Goes on after a call that logs in.
 *
 * @param again shows the first step
 * @param proof more fields of the second step
 */
export function finishLogin(into, report, done, reply, again, proof = {}) {
  if (!reply.ok) report(reply.message, true);
  else if (reply.body.mfa_token) showSecondStep(reply.body.mfa_token);
  else {
    report('');
    begin(reply.body);
    done();
  }

  function showSecondStep(mfa_token) {
    report('');
    into.replaceChildren(
      element('p', { textContent: 'Enter a code of your authenticator app, or a recovery code.' }),
      form('Log in', [codeField()], async ({ code }) => {
        const next = await call('POST', 'session/', { mfa_token, code, ...proof });
        if (next.code === 'TOKEN_NOT_VALID') {
          again();
          report('This login has expired. Log in again.', true);
        } else finishLogin(into, report, done, next, again, proof);
      }),
    );
    into.querySelector('input').focus();
  }
}
