import WebhookIcon from '@mui/icons-material/Webhook';
import { Alert, Button, Stack } from '@mui/material';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import {
  AutocompleteArrayInput,
  BooleanField,
  BooleanInput,
  Create,
  Datagrid,
  FunctionField,
  List,
  NumberField,
  required,
  SimpleForm,
  TextField,
  TextInput,
  Title,
  useNotify,
  useRecordContext,
  useRedirect,
  useRefresh,
  EditButton,
  type ResourceProps,
} from 'react-admin';
import { api, read, type Schemas } from '../shared/api.js';
import { Secret, useDialogs } from '../shared/dialogs.js';
import { asText, EditToolbar, SafeEdit } from './safe-edit.js';
import { Deliveries, LastDelivery } from './deliveries.js';
import { loadWebhookEventTypes } from './event-types.js';
import { Pages } from './pagination.js';

type Webhook = Schemas['Webhook'];

const WebhookList = (): ReactNode => (
  <List exporter={false} perPage={20} empty={false} pagination={<Pages />}>
    <Datagrid rowClick="edit">
      <NumberField source="id" label="ID" sortable={false} />
      <FunctionField label="Last delivery" render={({ id }: Webhook) => <LastDelivery webhook={id} />} />
      <TextField source="url" label="URL" sortable={false} />
      <FunctionField
        label="Types"
        render={({ types }: Webhook) => (types.includes('*') ? 'all' : types.join(', '))}
      />
      <TextField source="description" sortable={false} />
      <BooleanField source="active" sortable={false} />
      <EditButton label="Open" />
    </Datagrid>
  </List>
);

function Fields(): ReactNode {
  const { data: types = [] } = useQuery({
    queryKey: ['webhook-event-types'],
    queryFn: loadWebhookEventTypes,
  });
  const choices = ['*', ...types].map((id) => ({ id, name: id === '*' ? '* (all)' : id }));
  return (
    <>
      <TextInput source="url" label="URL" type="url" validate={required()} fullWidth />
      <AutocompleteArrayInput source="types" choices={choices} validate={required()} fullWidth />
      <TextInput source="description" parse={asText} fullWidth />
    </>
  );
}

/** The new webhook with its secret, which is shown only now. */
function WebhookCreate(): ReactNode {
  const notify = useNotify();
  const redirect = useRedirect();
  const [created, setCreated] = useState<Schemas['WebhookWithSecret']>();
  if (created) {
    return (
      <Stack spacing={2} sx={{ p: 2, alignItems: 'flex-start' }}>
        <Title title="New webhook" />
        <NewSecret secret={created.secret} />
        <Button variant="contained" onClick={() => redirect('edit', 'webhooks', created.id)}>
          I have stored it
        </Button>
      </Stack>
    );
  }
  return (
    <Create<Webhook & Schemas['WebhookWithSecret']>
      mutationOptions={{
        onSuccess: (webhook) => setCreated(webhook),
        onError: (error) => notify(error.message, { type: 'error' }),
      }}
    >
      <SimpleForm defaultValues={{ types: ['*'], description: '' }}>
        <Fields />
      </SimpleForm>
    </Create>
  );
}

const NewSecret = ({ secret }: { secret: string }): ReactNode => (
  <Alert severity="success" sx={{ width: '100%' }}>
    Copy the secret now. It is shown only once. Your server verifies signatures with it.
    <Secret label="Secret" value={secret} autoFocus />
  </Alert>
);

const WebhookEdit = (): ReactNode => (
  <SafeEdit actions={<Actions />} aside={<Deliveries />} sx={{ '& .RaEdit-main': { display: 'block' } }}>
    <SimpleForm toolbar={<EditToolbar />}>
      <Fields />
      <BooleanInput source="active" />
    </SimpleForm>
  </SafeEdit>
);

function Actions(): ReactNode {
  const webhook = useRecordContext<Webhook>();
  const { ask, run } = useDialogs();
  const refresh = useRefresh();
  const [secret, setSecret] = useState<string>();
  if (!webhook) return null;
  const params = { path: { id: webhook.id } };
  const rotate = () =>
    ask(
      {
        title: 'Rotate the secret?',
        text: 'For 24 hours, deliveries carry signatures of both secrets.',
        action: 'Rotate',
      },
      'The webhook has a new secret.',
      async () =>
        setSecret((await read(api.POST('/v1/webhooks/{id}/rotate-secret', { params }))).data.secret),
    );
  const test = () =>
    run('A test event is on its way.', async () => {
      await read(api.POST('/v1/webhooks/{id}/test', { params }));
      refresh();
    });
  return (
    <Stack spacing={1} sx={{ p: 1 }}>
      <Stack direction="row" spacing={1} sx={{ justifyContent: 'flex-end' }}>
        <Button onClick={() => void test()}>Send a test event</Button>
        <Button onClick={rotate}>Rotate the secret</Button>
      </Stack>
      {secret !== undefined && <NewSecret secret={secret} />}
    </Stack>
  );
}

export const WEBHOOKS: ResourceProps = {
  name: 'webhooks',
  list: WebhookList,
  create: WebhookCreate,
  edit: WebhookEdit,
  icon: WebhookIcon,
};
