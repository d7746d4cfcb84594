import { Button, Chip, Stack, Typography } from '@mui/material';
import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { api, read } from '../../shared/api.js';
import { useDialogs } from '../../shared/dialogs.js';
import { CodeField, EmailField, Form, PasswordField } from '../../shared/form.js';
import { useAccount } from '../../shared/session.js';
import { useOpenForm } from './open-form.js';
import type { Section } from './section.js';

function EmailSection(): ReactNode {
  const account = useAccount();
  const { run, say } = useDialogs();
  const [isChanging, setChanging] = useOpenForm();
  const { data: factors } = useQuery({ queryKey: ['factors'], queryFn: () => read(api.GET('/auth/mfa/')) });
  const resend = () =>
    run(`A mail to ${account.email} is on its way.`, () => read(api.POST('/auth/email/resend/')));

  return (
    <Stack spacing={2} sx={{ alignItems: 'flex-start' }}>
      <Stack direction="row" spacing={1} sx={{ alignItems: 'center', flexWrap: 'wrap' }}>
        <Typography sx={{ overflowWrap: 'anywhere' }}>{account.email}</Typography>
        <Chip
          size="small"
          label={account.is_email_verified ? 'Verified' : 'Not verified'}
          color={account.is_email_verified ? 'success' : 'warning'}
          variant="outlined"
        />
      </Stack>
      {!account.is_email_verified && (
        <>
          <Typography sx={{ color: 'text.secondary' }}>
            Open the link in the mail that we sent to this address.
          </Typography>
          <Button variant="outlined" onClick={() => void resend()}>
            Send the mail again
          </Button>
        </>
      )}
      {isChanging ? (
        <Form
          submit="Change the address"
          onCancel={() => setChanging(false)}
          onSubmit={async ({ new_email = '', password = '', code }) => {
            const body = { new_email, password, ...(code !== undefined && { code }) };
            await read(api.POST('/auth/email/change/', { body }));
            setChanging(false);
            say(`Open the link in the mail to ${new_email}. Until then, the address stays as it is.`);
          }}
        >
          <EmailField label="New e-mail" name="new_email" autoComplete="email" autoFocus />
          <PasswordField />
          {factors?.data.totp && <CodeField />}
        </Form>
      ) : (
        <Button variant="outlined" onClick={() => setChanging(true)}>
          Change the address
        </Button>
      )}
    </Stack>
  );
}

export const EMAIL: Section = { path: 'email', title: 'E-mail', content: <EmailSection /> };
