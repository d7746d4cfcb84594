import { Button, Stack } from '@mui/material';
import { type ReactNode, useRef, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { api, ApiError, read } from '../shared/api.js';
import { EmailField, Field, Form } from '../shared/form.js';
import { NewPasswordField } from '../shared/login/new-password.js';
import { SendAgain } from '../shared/login/send-again.js';
import { useSession } from '../shared/session.js';
import { NarrowPage } from './narrow-page.js';

const Back = (): ReactNode => (
  <p>
    <Link to="/">Back to the login</Link>
  </p>
);

/** Requests the mail with the link to choose a new password. */
export function ForgottenPage(): ReactNode {
  const [isSent, setSent] = useState(false);
  if (isSent) {
    return (
      <NarrowPage
        title="Look at your mail"
        text="If the address has an account, a mail is on its way. Its link is valid for an hour."
      >
        <Back />
      </NarrowPage>
    );
  }
  return (
    <NarrowPage
      title="Forgot your password?"
      text="Enter the e-mail address of your account. We send a link to choose a new password."
    >
      <Form
        submit="Send the link"
        onSubmit={async ({ email = '' }) => {
          await read(api.POST('/auth/password/reset/', { body: { email } }));
          setSent(true);
        }}
      >
        <EmailField autoFocus />
      </Form>
      <Back />
    </NarrowPage>
  );
}

/** Creates an account, and logs in. */
export function RegistrationPage(): ReactNode {
  const { begin } = useSession();
  const navigate = useNavigate();
  const [waiting, setWaiting] = useState<{ email: string; password: string }>();
  const form = useRef<HTMLDivElement>(null);
  const value = (name: string) =>
    form.current?.querySelector<HTMLInputElement>(`[name=${name}]`)?.value ?? '';

  async function register({ email = '', name = '', password = '' }: Record<string, string>): Promise<void> {
    await read(api.POST('/auth/register/', { body: { email, name, password } }));
    try {
      const session = await read(api.POST('/auth/session/', { body: { email, password } }));
      if (!('account' in session)) return;
      begin(session);
      void navigate('/email');
    } catch (error) {
      // The service wants a verified address first.
      if (!(error instanceof ApiError && error.status === 403)) throw error;
      setWaiting({ email, password });
    }
  }

  if (waiting) {
    return (
      <NarrowPage
        title="Your account is created"
        text="Confirm your e-mail address by the link in the mail that we sent, then log in."
      >
        <Stack spacing={2} sx={{ alignItems: 'flex-start' }}>
          <SendAgain {...waiting} />
          <Button variant="contained" component={Link} to="/">
            Log in
          </Button>
        </Stack>
      </NarrowPage>
    );
  }
  return (
    <NarrowPage title="Create an account" text="We send a mail to confirm your address.">
      <div ref={form}>
        <Form submit="Create the account" onSubmit={register}>
          <Field label="Name" name="name" autoComplete="name" autoFocus />
          <EmailField />
          <NewPasswordField hints={() => [value('email'), value('name')]} />
        </Form>
      </div>
      <Back />
    </NarrowPage>
  );
}
