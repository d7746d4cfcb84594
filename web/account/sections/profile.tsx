import type { ReactNode } from 'react';
import { api, read } from '../../shared/api.js';
import { useDialogs } from '../../shared/dialogs.js';
import { Field, Form } from '../../shared/form.js';
import { useAccount, useSession } from '../../shared/session.js';
import type { Section } from './section.js';

function ProfileSection(): ReactNode {
  const account = useAccount();
  const { update } = useSession();
  const { say } = useDialogs();
  return (
    <Form
      submit="Save"
      onSubmit={async ({ name = '', phone = '' }) => {
        update(await read(api.PATCH('/auth/me/', { body: { name, phone } })));
        say('Your profile is saved.');
      }}
    >
      <Field label="Name" name="name" autoComplete="name" defaultValue={account.name} />
      <Field label="Phone" name="phone" autoComplete="tel" defaultValue={account.phone} required={false} />
    </Form>
  );
}

export const PROFILE: Section = { path: 'profile', title: 'Profile', content: <ProfileSection /> };
