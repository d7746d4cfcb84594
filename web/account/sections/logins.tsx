import { Button, Stack } from '@mui/material';
import { useQueryClient } from '@tanstack/react-query';
import Bowser from 'bowser';
import type { ReactNode } from 'react';
import { api, read, type Schemas } from '../../shared/api.js';
import { useDialogs } from '../../shared/dialogs.js';
import { date, Entries } from '../entries.js';
import type { Section } from './section.js';

function LoginsSection(): ReactNode {
  const { ask } = useDialogs();
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ['logins'] });

  const end = (id: string, name: string) =>
    ask(
      { title: `End the login of ${name}?`, text: 'It has to log in again.', action: 'End' },
      'The login has ended.',
      async () => {
        await read(api.DELETE('/auth/sessions/{id}/', { params: { path: { id } } }));
        await refresh();
      },
    );
  const endOthers = () =>
    ask(
      {
        title: 'End all other logins?',
        text: 'Only this browser stays logged in.',
        action: 'End the others',
      },
      'All other logins have ended.',
      async () => {
        await read(api.DELETE('/auth/sessions/'));
        await refresh();
      },
    );

  return (
    <Stack spacing={2} sx={{ alignItems: 'flex-start' }}>
      <Entries
        name="logins"
        load={() => read(api.GET('/auth/sessions/'))}
        none="There are none."
        entriesOf={({ data }) =>
          data.map((login) => ({
            id: login.id,
            name: nameOf(login),
            details: `${login.address} · began ${date(login.created_at)}`,
            action: login.current ? undefined : (
              <Button
                aria-label={`End the login of ${nameOf(login)}`}
                onClick={() => end(login.id, nameOf(login))}
              >
                End
              </Button>
            ),
          }))
        }
      />
      <Button variant="outlined" onClick={endOthers}>
        End all others
      </Button>
    </Stack>
  );
}

/** "Chrome on Linux · this device · active now". */
function nameOf({ agent, current, last_used_at }: Schemas['Login']): string {
  const { browser, os } = agent === '' ? { browser: {}, os: {} } : Bowser.parse(agent);
  const program = browser.name || agent.split(/[/ ]/)[0] || 'Unknown program';
  const parts = [os.name ? `${program} on ${os.name}` : program];
  if (current) parts.push('this device', 'active now');
  else parts.push(`active ${date(last_used_at)}`);
  return parts.join(' · ');
}

export const LOGINS: Section = { path: 'logins', title: 'Logins', content: <LoginsSection /> };
