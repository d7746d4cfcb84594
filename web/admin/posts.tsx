import ArticleIcon from '@mui/icons-material/Article';
import {
  Create,
  Datagrid,
  DateField,
  FunctionField,
  List,
  NumberField,
  required,
  SearchInput,
  SelectInput,
  SimpleForm,
  TextField,
  TextInput,
  EditButton,
  type ResourceProps,
} from 'react-admin';
import type { ReactNode } from 'react';
import { EditToolbar, SafeEdit } from './safe-edit.js';
import { Pages } from './pagination.js';

const STATUSES = ['draft', 'published'].map((id) => ({ id, name: id }));

const FILTERS = [
  <SearchInput key="q" source="q" alwaysOn />,
  <SelectInput key="status" source="status" choices={STATUSES} alwaysOn />,
];

const PostList = (): ReactNode => (
  <List
    filters={FILTERS}
    sort={{ field: 'created_at', order: 'DESC' }}
    exporter={false}
    perPage={20}
    pagination={<Pages />}
  >
    <Datagrid rowClick="edit">
      <NumberField source="id" label="ID" sortable={false} />
      <TextField source="title" />
      <TextField source="status" sortable={false} />
      <FunctionField label="Content" render={({ content }) => content.slice(0, 60)} />
      <DateField source="created_at" showTime />
      <EditButton label="Open" />
    </Datagrid>
  </List>
);

const Fields = (): ReactNode => (
  <>
    <TextInput source="title" validate={required()} fullWidth />
    <TextInput source="content" validate={required()} multiline minRows={4} fullWidth />
    <SelectInput source="status" choices={STATUSES} defaultValue="draft" />
  </>
);

const PostCreate = (): ReactNode => (
  <Create redirect="list">
    <SimpleForm>
      <Fields />
    </SimpleForm>
  </Create>
);

const PostEdit = (): ReactNode => (
  <SafeEdit>
    <SimpleForm toolbar={<EditToolbar />}>
      <Fields />
    </SimpleForm>
  </SafeEdit>
);

export const POSTS: ResourceProps = {
  name: 'posts',
  list: PostList,
  create: PostCreate,
  edit: PostEdit,
  icon: ArticleIcon,
};
