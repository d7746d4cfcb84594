import { Button, Stack } from '@mui/material';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, messageOf, read } from '../../shared/api.js';
import { useDialogs } from '../../shared/dialogs.js';
import { leaveToLink, nameOfProvider } from '../../shared/login/social.js';
import { useRecently } from '../../shared/recently.js';
import { date, Entries } from '../entries.js';
import type { Section } from './section.js';

/** Accounts at other providers that can log in. */
function IdentitiesSection(): ReactNode {
  const recently = useRecently();
  const { ask, say } = useDialogs();
  const client = useQueryClient();
  const { data: providers } = useQuery({
    queryKey: ['linkable'],
    queryFn: () => read(api.GET('/auth/social/')),
  });

  const remove = (id: number, name: string) =>
    ask(
      { title: `Remove ${name}?`, text: 'It cannot log in any more.', action: 'Remove' },
      'The identity is removed.',
      async () => {
        const params = { path: { id: String(id) } };
        await recently((body) => read(api.DELETE('/auth/identities/{id}/', { params, body })));
        await client.invalidateQueries({ queryKey: ['identities'] });
      },
    );

  async function link(provider: string): Promise<void> {
    try {
      const params = { path: { provider }, query: { return: 'account' } };
      const { authorization_url } = await recently((body) =>
        read(api.POST('/auth/social/{provider}/link/', { params, body })),
      );
      leaveToLink(authorization_url);
    } catch (error) {
      say(messageOf(error), true);
    }
  }

  return (
    <Stack spacing={2} sx={{ alignItems: 'flex-start' }}>
      <Entries
        name="identities"
        load={() => read(api.GET('/auth/identities/'))}
        none={`With an identity, you log in by your account at Google or GitHub.${
          providers?.data.length === 0 ? ' This service is connected to neither.' : ''
        }`}
        entriesOf={({ data }) =>
          data.map(({ id, provider, created_at }) => {
            const name = nameOfProvider(provider);
            return {
              id,
              name,
              details: `Linked ${date(created_at)}`,
              action: (
                <Button
                  color="error"
                  aria-label={`Remove the identity at ${name}`}
                  onClick={() => remove(id, name)}
                >
                  Remove
                </Button>
              ),
            };
          })
        }
      />
      {providers?.data.map(({ name }) => (
        <Button key={name} variant="outlined" onClick={() => void link(name)}>
          Link {nameOfProvider(name)}
        </Button>
      ))}
    </Stack>
  );
}

export const IDENTITIES: Section = {
  path: 'identities',
  title: 'Identities',
  content: <IdentitiesSection />,
};
