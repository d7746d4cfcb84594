import { Alert, Button, MenuItem, Stack } from '@mui/material';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { api, read } from '../../shared/api.js';
import { Secret, useDialogs } from '../../shared/dialogs.js';
import { Field, Form } from '../../shared/form.js';
import { useRecently } from '../../shared/recently.js';
import { date, Entries } from '../entries.js';
import { useOpenForm } from './open-form.js';
import type { Section } from './section.js';

function ApiKeysSection(): ReactNode {
  const recently = useRecently();
  const { ask } = useDialogs();
  const client = useQueryClient();
  const [isCreating, setCreating] = useOpenForm();
  const [created, setCreated] = useState<string>();
  const refresh = () => client.invalidateQueries({ queryKey: ['api-keys'] });

  async function create({ name = '', scope, expires = '' }: Record<string, string>): Promise<void> {
    const body = {
      name,
      scope: scope as 'read' | 'write',
      // At the end of the day, where the person is.
      expires_at: expires === '' ? null : new Date(`${expires}T23:59:59`).toISOString(),
    };
    const { data } = await recently((proof) =>
      read(api.POST('/auth/api-keys/', { body: { ...body, ...proof } })),
    );
    setCreating(false);
    setCreated(data.key);
    await refresh();
  }

  const remove = (id: number, name: string) =>
    ask(
      {
        title: `Delete the API key ${name}?`,
        text: 'Programs that use it are refused at once.',
        action: 'Delete',
      },
      'The API key is deleted.',
      async () => {
        await read(api.DELETE('/auth/api-keys/{id}/', { params: { path: { id: String(id) } } }));
        await refresh();
      },
    );

  return (
    <Stack spacing={2} sx={{ alignItems: 'flex-start' }}>
      {created !== undefined && (
        <Alert severity="success" onClose={() => setCreated(undefined)} sx={{ width: '100%' }}>
          Copy the key now. It is shown only once.
          <Secret label="API key" value={created} autoFocus />
        </Alert>
      )}
      <Entries
        name="api-keys"
        load={() => read(api.GET('/auth/api-keys/'))}
        none="An API key lets a program act as you, without your password."
        entriesOf={({ data }) =>
          data.map(({ id, name, prefix, scope, last_used_at, expires_at }) => ({
            id,
            name,
            details: [
              `${prefix}…`,
              scope === 'read' ? 'may read' : 'may read and write',
              `last used ${date(last_used_at)}`,
              `expires ${date(expires_at)}`,
            ].join(' · '),
            action: (
              <Button
                color="error"
                aria-label={`Delete the API key ${name}`}
                onClick={() => remove(id, name)}
              >
                Delete
              </Button>
            ),
          }))
        }
      />
      {isCreating ? (
        <Form submit="Create" onSubmit={create} onCancel={() => setCreating(false)}>
          <Field label="Name" name="name" autoFocus />
          <Field select label="Scope" name="scope" defaultValue="read">
            <MenuItem value="read">May read</MenuItem>
            <MenuItem value="write">May read and write</MenuItem>
          </Field>
          <Field
            label="Expires (optional)"
            name="expires"
            type="date"
            required={false}
            // A year of more digits is no time of the API.
            slotProps={{ inputLabel: { shrink: true }, htmlInput: { max: '9999-12-30' } }}
          />
        </Form>
      ) : (
        <Button variant="contained" onClick={() => setCreating(true)}>
          Create a key
        </Button>
      )}
    </Stack>
  );
}

export const API_KEYS: Section = { path: 'api-keys', title: 'API keys', content: <ApiKeysSection /> };
