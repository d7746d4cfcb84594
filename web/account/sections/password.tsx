import { Typography } from '@mui/material';
import { type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import { api, read } from '../../shared/api.js';
import { useDialogs } from '../../shared/dialogs.js';
import { Form, PasswordField } from '../../shared/form.js';
import { NewPasswordField } from '../../shared/login/new-password.js';
import { useAccount } from '../../shared/session.js';
import type { Section } from './section.js';

function PasswordSection(): ReactNode {
  const account = useAccount();
  const { say } = useDialogs();
  const [changes, setChanges] = useState(0);
  return (
    <>
      <Typography sx={{ color: 'text.secondary', mb: 2 }}>
        A new password ends your other logins. Without a password yet,{' '}
        <Link to="/forgot">request one by mail</Link>.
      </Typography>
      <Form
        key={changes}
        submit="Change the password"
        onSubmit={async ({ old_password = '', new_password = '' }) => {
          await read(api.POST('/auth/change-password/', { body: { old_password, new_password } }));
          setChanges(changes + 1);
          say('The password is changed, and your other logins have ended.');
        }}
      >
        {/* Password managers find out by it which of their entries changes. */}
        <input name="username" autoComplete="username" value={account.email} readOnly hidden />
        <PasswordField label="Current password" name="old_password" />
        <NewPasswordField
          label="New password"
          name="new_password"
          hints={() => [account.email, account.name]}
        />
      </Form>
    </>
  );
}

export const PASSWORD: Section = { path: 'password', title: 'Password', content: <PasswordSection /> };
