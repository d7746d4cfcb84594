// The ways to an account for people who cannot log in: a forgotten password, and the registration.

import { ACCOUNT_PAGE } from './calls.js';
import { element, field, form } from '../site/elements.js';
import { begin, call } from '../site/session.js';
import { newPasswordField } from './new-password.js';

const BACK = { text: 'Back to the login', href: ACCOUNT_PAGE };
const email = () =>
  field('E-mail', { id: 'email', name: 'email', type: 'email', autocomplete: 'username', required: true });

/** Requests the mail with the link to choose a new password. */
export function showForgotten(into, { report, entitle, wayOn }) {
  entitle(
    'Forgot your password?',
    'Enter the e-mail address of your account. We send a link to choose a new password.',
  );
  const back = wayOn(BACK);
  back.classList.add('plain');
  const send = form('Send the link', [email()], async (values) => {
    const reply = await call('POST', 'password/reset/', values);
    if (!reply.ok) return report(reply.message, true);
    entitle('Look at your mail', '');
    into.replaceChildren(back);
    return report('If the address has an account, a mail is on its way. Its link is valid for an hour.');
  });
  into.replaceChildren(send, element('div', { className: 'ways' }, back));
  into.querySelector('input').focus();
}

/** Creates an account, and logs in. */
export function showRegistration(into, { report, entitle, wayOn }) {
  entitle('Create an account', '');
  const back = wayOn(BACK);
  back.classList.add('plain');
  const value = (name) => into.querySelector(`[name=${name}]`).value;
  const fields = [
    field('Name', { name: 'name', autocomplete: 'name', required: true, maxLength: 150 }),
    email(),
    newPasswordField('Password', { name: 'password' }, () => [value('email'), value('name')]),
  ];
  const create = form('Create the account', fields, async (values) => {
    const made = await call('POST', 'register/', values);
    if (!made.ok) return report(made.message, true);
    const login = await call('POST', 'session/', values);
    if (login.ok) {
      begin(login.body);
      return location.assign(ACCOUNT_PAGE);
    }
    entitle('Your account is created', '');
    into.replaceChildren(back);
    return report('Confirm your e-mail address by the link in the mail that we sent, then log in.');
  });
  into.replaceChildren(create, element('div', { className: 'ways' }, back));
  into.querySelector('input').focus();
}
