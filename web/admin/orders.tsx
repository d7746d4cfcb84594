import ShoppingCartIcon from '@mui/icons-material/ShoppingCart';
import type { ReactNode } from 'react';
import {
  Datagrid,
  DateField,
  FunctionField,
  List,
  NumberField,
  Show,
  SimpleShowLayout,
  TextField,
  ShowButton,
  type ResourceProps,
} from 'react-admin';
import { inWords } from '../shared/in-words.js';
import { Pages } from './pagination.js';

const OrderList = (): ReactNode => (
  <List exporter={false} perPage={20} pagination={<Pages />}>
    <Datagrid rowClick="show">
      <NumberField source="id" label="ID" sortable={false} />
      <TextField source="status" sortable={false} />
      <FunctionField label="Payload" render={({ payload }) => inWords(payload, 80)} />
      <DateField source="created_at" showTime sortable={false} />
      <ShowButton label="Open" />
    </Datagrid>
  </List>
);

const OrderShow = (): ReactNode => (
  <Show>
    <SimpleShowLayout>
      <NumberField source="id" label="ID" />
      <TextField source="status" />
      <DateField source="created_at" showTime />
      <FunctionField
        label="Payload"
        render={({ payload }) => (
          <pre style={{ whiteSpace: 'pre-wrap' }}>{JSON.stringify(payload, null, 2)}</pre>
        )}
      />
    </SimpleShowLayout>
  </Show>
);

export const ORDERS: ResourceProps = {
  name: 'orders',
  list: OrderList,
  show: OrderShow,
  icon: ShoppingCartIcon,
};
