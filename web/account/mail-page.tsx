import { Alert, Button } from '@mui/material';
import { type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import { api, ApiError, read } from '../shared/api.js';
import { Form, PasswordField } from '../shared/form.js';
import { NewPasswordField } from '../shared/login/new-password.js';
import { useSession } from '../shared/session.js';
import { currentLink, forgetLink, type MailLink, type Purpose } from './mail-links.js';
import { NarrowPage } from './narrow-page.js';

interface Page {
  readonly title: string;
  readonly text: string;
  readonly button: string;
  readonly done: string;
  readonly send: (token: string, values: Record<string, string>, how: Sending) => Promise<unknown>;
}

/** With the session of the browser, if it has one: it may show that the owner of the address uses the account. */
interface Sending {
  readonly credentials: 'same-origin' | 'omit';
  readonly referrerPolicy: 'no-referrer';
}

const PAGES: Readonly<Record<Purpose, Page>> = {
  'verify-email': {
    title: 'Confirm your e-mail address',
    text: 'Press the button to confirm that this address is yours. Do this only if you created the account.',
    button: 'Confirm the address',
    done: 'Your e-mail address is confirmed.',
    send: (token, { password }, how) =>
      read(
        api.POST('/auth/email/verify/', {
          ...how,
          body: { token, ...(password !== undefined && { password }) },
        }),
      ),
  },
  'change-email': {
    title: 'Confirm your new e-mail address',
    text: 'Press the button to use the new address for your account from now on.',
    button: 'Use this address',
    done: 'Your account has the new address. Use it when you log in.',
    send: (token, _, how) => read(api.POST('/auth/email/change/confirm/', { ...how, body: { token } })),
  },
  'reset-password': {
    title: 'Choose a new password',
    text: 'The new password ends all logins of your account.',
    button: 'Set the password',
    done: 'Your password is changed. Log in with the new one.',
    send: (token, { new_password = '' }, how) =>
      read(api.POST('/auth/password/reset/confirm/', { ...how, body: { token, new_password } })),
  },
};

/** What to do about an error, by its code. */
const ADVICE: Readonly<Record<string, string>> = {
  INVALID_CODE:
    'This link has expired, was used before, or was replaced by a newer mail. Request a new mail.',
  CONFLICT: 'Another account now uses this address. Request the change with another address.',
};
const NEEDS_PASSWORD =
  'Somebody else may have registered your address: the account has more than a password already. If it is yours, enter its password. Otherwise request a new password, which removes what they have added.';

type Outcome = 'needs-password' | { readonly text: string; readonly isError: boolean };

/** The page behind the links in mails, which does nothing before its button is pressed: mail scanners follow links. */
export function MailPage(): ReactNode {
  const [link] = useState(currentLink);
  if (link) return <LinkPage {...link} />;
  return (
    <NarrowPage
      title="This link is incomplete"
      text="This page needs the link from a mail. Copy the whole link, or request a new mail."
    >
      <WayOn />
    </NarrowPage>
  );
}

function LinkPage({ action, token }: MailLink): ReactNode {
  const { title, text, button, done, send } = PAGES[action];
  const [outcome, setOutcome] = useState<Outcome>();
  const { account, restore } = useSession();

  async function submit(values: Record<string, string>): Promise<void> {
    try {
      await send(token, values, {
        credentials: account ? 'same-origin' : 'omit',
        referrerPolicy: 'no-referrer',
      });
      forgetLink();
      setOutcome({ text: done, isError: false });
      void restore();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const advice = ADVICE[error.code ?? ''];
      if (error.code === 'FORBIDDEN') setOutcome('needs-password');
      else if (advice === undefined) throw error;
      else {
        forgetLink();
        setOutcome({ text: advice, isError: true });
      }
    }
  }

  if (typeof outcome === 'object') {
    return (
      <NarrowPage title={title}>
        <Alert severity={outcome.isError ? 'error' : 'success'} sx={{ mb: 2 }}>
          {outcome.text}
        </Alert>
        <WayOn isReset={action === 'reset-password' && outcome.isError} />
      </NarrowPage>
    );
  }
  const needsPassword = outcome === 'needs-password';
  // Without the login of the owner, a verification would end their logins.
  if (account === undefined) return <NarrowPage title={title} text="Please wait …" />;
  return (
    <NarrowPage title={title} text={needsPassword ? NEEDS_PASSWORD : text}>
      <Form submit={button} onSubmit={submit}>
        {action === 'reset-password' && <NewPasswordField label="New password" name="new_password" />}
        {needsPassword && <PasswordField autoFocus />}
      </Form>
      {needsPassword && (
        <p>
          <Link to="/forgot">Request a new password</Link>
        </p>
      )}
    </NarrowPage>
  );
}

const WayOn = ({ isReset = false }: { isReset?: boolean }): ReactNode => (
  <Button variant="contained" component={Link} to={isReset ? '/forgot' : '/'}>
    {isReset ? 'Request a new mail' : 'Go to your account'}
  </Button>
);
