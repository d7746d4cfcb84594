import { Button, Divider, Stack, Typography } from '@mui/material';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, messageOf, read } from '../../shared/api.js';
import { useDialogs } from '../../shared/dialogs.js';
import { CodeField, Form, PasswordField } from '../../shared/form.js';
import { isTooOld } from '../../shared/recently.js';
import { useSession } from '../../shared/session.js';
import { SERVICE } from '../../shared/settings.js';
import { useOpenForm } from './open-form.js';
import type { Section } from './section.js';

function DeletionSection(): ReactNode {
  const { say } = useDialogs();
  const { logOut } = useSession();
  const [isDeleting, setDeleting] = useOpenForm();
  const { data: factors } = useQuery({ queryKey: ['factors'], queryFn: () => read(api.GET('/auth/mfa/')) });

  async function download(): Promise<void> {
    try {
      // As the service has sent it: parsing would change numbers.
      const text = await read(api.GET('/auth/me/export/', { parseAs: 'text' }));
      const file = new Blob([text], { type: 'application/json' });
      const link = document.createElement('a');
      link.href = URL.createObjectURL(file);
      link.download = `${SERVICE} account.json`;
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) {
      const advice = 'Your login is older than 5 minutes. Log out and in again, and then export.';
      say(isTooOld(error) ? advice : messageOf(error), true);
    }
  }

  return (
    <Stack spacing={2} sx={{ alignItems: 'flex-start' }}>
      <Typography>Everything that is stored about you, as JSON.</Typography>
      <Button variant="outlined" onClick={() => void download()}>
        Export
      </Button>
      <Divider flexItem />
      <Typography>
        Deleting the account ends all your logins and removes your data. Your orders stay, without your name.
        It cannot be undone.
      </Typography>
      {isDeleting ? (
        <Form
          submit="Delete for ever"
          isDangerous
          onCancel={() => setDeleting(false)}
          onSubmit={async ({ password = '', code }) => {
            const body = { ...(password !== '' && { password }), ...(code !== undefined && { code }) };
            await read(api.DELETE('/auth/me/', { body }));
            await logOut();
            say('Your account is deleted.');
          }}
        >
          <PasswordField autoFocus required={false} helperText="Leave it empty if the account has none." />
          {factors?.data.totp && <CodeField />}
        </Form>
      ) : (
        <Button color="error" variant="outlined" onClick={() => setDeleting(true)}>
          Delete the account
        </Button>
      )}
    </Stack>
  );
}

export const DELETION: Section = {
  path: 'deletion',
  title: 'Export and delete',
  content: <DeletionSection />,
};
