import ManageAccountsIcon from '@mui/icons-material/ManageAccounts';
import { Button, Stack } from '@mui/material';
import type { ReactNode } from 'react';
import {
  BooleanField,
  BooleanInput,
  Datagrid,
  DateField,
  EmailField,
  List,
  NumberField,
  SearchInput,
  Show,
  SimpleShowLayout,
  TextField,
  usePermissions,
  useRecordContext,
  useRefresh,
  ShowButton,
  type ResourceProps,
} from 'react-admin';
import { api, read } from '../shared/api.js';
import { useDialogs } from '../shared/dialogs.js';
import { useRecently } from '../shared/recently.js';
import { Pages } from './pagination.js';

const FILTERS = [
  <SearchInput key="q" source="q" alwaysOn />,
  <BooleanInput key="active" source="is_active" label="Active" />,
  <BooleanInput key="staff" source="is_staff" label="Staff" />,
];

const AccountList = (): ReactNode => (
  <List filters={FILTERS} exporter={false} perPage={20} pagination={<Pages />}>
    <Datagrid rowClick="show">
      <NumberField source="id" label="ID" sortable={false} />
      <TextField source="name" sortable={false} />
      <EmailField source="email" label="E-mail" sortable={false} />
      <BooleanField source="is_active" label="Active" sortable={false} />
      <BooleanField source="is_staff" label="Staff" sortable={false} />
      <DateField source="date_joined" label="Joined" sortable={false} />
      <ShowButton label="Open" />
    </Datagrid>
  </List>
);

const AccountShow = (): ReactNode => (
  <Show actions={<Actions />}>
    <SimpleShowLayout>
      <TextField source="name" />
      <EmailField source="email" label="E-mail" />
      <TextField source="phone" emptyText="–" />
      <BooleanField source="is_email_verified" label="E-mail verified" />
      <BooleanField source="is_active" label="Active" />
      <BooleanField source="is_staff" label="Staff" />
      <BooleanField source="is_superuser" label="Superuser" />
      <NumberField source="logins" />
      <BooleanField source="totp" label="Two-step login" />
      <NumberField source="passkeys" />
      <DateField source="last_login_at" label="Last login" showTime emptyText="never" />
      <DateField source="date_joined" label="Joined" showTime />
    </SimpleShowLayout>
  </Show>
);

interface Account {
  readonly id: number;
  readonly email: string;
  readonly is_active: boolean;
  readonly is_staff: boolean;
}

/** What staff and superusers may do with an account, each after a question. */
function Actions(): ReactNode {
  const account = useRecordContext<Account>();
  const { permissions } = usePermissions();
  const { ask } = useDialogs();
  const recently = useRecently();
  const refresh = useRefresh();
  if (!account) return null;
  const { email, is_active: isActive, is_staff: isStaff } = account;
  const params = { path: { id: account.id } };

  const change = (
    action: string,
    text: string,
    body: { is_active?: boolean; is_staff?: boolean },
    done: string,
  ) =>
    ask({ title: `${action} ${email}?`, text, action }, done, async () => {
      await recently((proof) =>
        read(api.PATCH('/auth/accounts/{id}/', { params, body: { ...body, ...proof } })),
      );
      refresh();
    });
  const endLogins = () =>
    ask(
      {
        title: `End the logins of ${email}?`,
        text: 'The person has to log in again everywhere.',
        action: 'End the logins',
      },
      'The logins have ended.',
      async () => {
        await read(api.DELETE('/auth/accounts/{id}/sessions/', { params }));
        refresh();
      },
    );
  const resetFactors = () =>
    ask(
      {
        title: `Reset two-step login of ${email}?`,
        text: 'The second factor and all passkeys are removed, and the logins end. First make sure who asks for it.',
        action: 'Reset',
      },
      'Two-step login and passkeys are removed.',
      async () => {
        await recently((body) => read(api.POST('/auth/accounts/{id}/reset-mfa/', { params, body })));
        refresh();
      },
    );

  return (
    <Stack direction="row" spacing={1} useFlexGap sx={{ p: 1, flexWrap: 'wrap', justifyContent: 'flex-end' }}>
      <Button onClick={endLogins}>End logins</Button>
      {permissions === 'superuser' && (
        <>
          <Button onClick={resetFactors}>Reset two-step login</Button>
          <Button
            onClick={() =>
              isStaff
                ? change(
                    'Remove from staff',
                    'It loses the rights of staff, and its logins end.',
                    { is_staff: false },
                    'The account is not staff any more.',
                  )
                : change(
                    'Make staff',
                    'It sees this console, and its logins end.',
                    { is_staff: true },
                    'The account is staff.',
                  )
            }
          >
            {isStaff ? 'Remove from staff' : 'Make staff'}
          </Button>
          <Button
            color={isActive ? 'error' : 'primary'}
            onClick={() =>
              isActive
                ? change(
                    'Block',
                    'It cannot log in, and its logins and API keys end at once.',
                    { is_active: false },
                    'The account is blocked.',
                  )
                : change('Unblock', 'It can log in again.', { is_active: true }, 'The account is active.')
            }
          >
            {isActive ? 'Block' : 'Unblock'}
          </Button>
        </>
      )}
    </Stack>
  );
}

export const ACCOUNTS: ResourceProps = {
  name: 'accounts',
  list: AccountList,
  show: AccountShow,
  icon: ManageAccountsIcon,
};
