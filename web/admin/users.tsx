import GroupIcon from '@mui/icons-material/Group';
import type { ReactNode } from 'react';
import {
  Create,
  Datagrid,
  email,
  List,
  required,
  SimpleForm,
  TextField,
  TextInput,
  EditButton,
  type ResourceProps,
} from 'react-admin';
import { asText, EditToolbar, SafeEdit } from './safe-edit.js';
import { Pages } from './pagination.js';

const UserList = (): ReactNode => (
  <List exporter={false} perPage={20} pagination={<Pages />}>
    <Datagrid rowClick="edit">
      <TextField source="id" label="ID" sortable={false} />
      <TextField source="name" sortable={false} />
      <EditButton label="Open" />
    </Datagrid>
  </List>
);

const Fields = (): ReactNode => (
  <>
    <TextInput source="name" validate={required()} fullWidth />
    <TextInput source="email" label="E-mail" validate={email()} parse={asText} fullWidth />
  </>
);

const UserCreate = (): ReactNode => (
  <Create redirect="list">
    <SimpleForm>
      <Fields />
    </SimpleForm>
  </Create>
);

const UserEdit = (): ReactNode => (
  <SafeEdit>
    <SimpleForm toolbar={<EditToolbar />}>
      <Fields />
    </SimpleForm>
  </SafeEdit>
);

export const USERS: ResourceProps = {
  name: 'users',
  list: UserList,
  create: UserCreate,
  edit: UserEdit,
  icon: GroupIcon,
};
