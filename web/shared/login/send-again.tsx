import { Button } from '@mui/material';
import type { ReactNode } from 'react';
import { api, read } from '../api.js';
import { useDialogs } from '../dialogs.js';

/** Sends the mail that confirms an address again, for somebody whom the service does not let in before. */
export function SendAgain(login: { readonly email: string; readonly password: string }): ReactNode {
  const { run } = useDialogs();
  const send = () => read(api.POST('/auth/email/resend/', { body: login }));
  return (
    <Button variant="outlined" onClick={() => void run(`A mail to ${login.email} is on its way.`, send)}>
      Send the mail again
    </Button>
  );
}
