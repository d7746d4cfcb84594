import { Button, Stack } from '@mui/material';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, ApiError, read } from '../../shared/api.js';
import { useDialogs } from '../../shared/dialogs.js';
import { Field, Form } from '../../shared/form.js';
import { createPasskey, wrongHost } from '../../shared/login/passkeys.js';
import { useRecently } from '../../shared/recently.js';
import { date, Entries } from '../entries.js';
import { useOpenForm } from './open-form.js';
import type { Section } from './section.js';

function PasskeysSection(): ReactNode {
  const recently = useRecently();
  const { ask, say } = useDialogs();
  const client = useQueryClient();
  const [isAdding, setAdding] = useOpenForm();
  const refresh = () => client.invalidateQueries({ queryKey: ['passkeys'] });

  async function add({ name = '' }: Record<string, string>): Promise<void> {
    const options = await recently((body) => read(api.POST('/auth/passkeys/options/', { body })));
    const host = wrongHost(options);
    if (host !== undefined) throw new ApiError(0, undefined, host);
    const response = await createPasskey(options);
    if (response === null) throw new ApiError(0, undefined, 'No passkey was created.');
    await read(api.POST('/auth/passkeys/', { body: { response, name } }));
    setAdding(false);
    await refresh();
    say('The passkey is added.');
  }

  const remove = (id: number, name: string) =>
    ask(
      { title: `Remove the passkey ${name}?`, text: 'It cannot log in any more.', action: 'Remove' },
      'The passkey is removed.',
      async () => {
        const params = { path: { id: String(id) } };
        await recently((body) => read(api.DELETE('/auth/passkeys/{id}/', { params, body })));
        await refresh();
      },
    );

  return (
    <Stack spacing={2} sx={{ alignItems: 'flex-start' }}>
      <Entries
        name="passkeys"
        load={() => read(api.GET('/auth/passkeys/'))}
        none="A passkey logs in with your fingerprint, face or device PIN instead of a password."
        entriesOf={({ data }) =>
          data.map(({ id, name, created_at, last_used_at }) => ({
            id,
            name,
            details: `Added ${date(created_at)} · last used ${date(last_used_at)}`,
            action: (
              <Button
                color="error"
                aria-label={`Remove the passkey ${name}`}
                onClick={() => remove(id, name)}
              >
                Remove
              </Button>
            ),
          }))
        }
      />
      {isAdding ? (
        <Form submit="Add" onSubmit={add} onCancel={() => setAdding(false)}>
          <Field label="Name" name="name" defaultValue="This device" autoFocus />
        </Form>
      ) : (
        <Button variant="contained" onClick={() => setAdding(true)}>
          Add a passkey
        </Button>
      )}
    </Stack>
  );
}

export const PASSKEYS: Section = { path: 'passkeys', title: 'Passkeys', content: <PasskeysSection /> };
