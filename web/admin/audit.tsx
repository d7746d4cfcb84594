import GavelIcon from '@mui/icons-material/Gavel';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import {
  Datagrid,
  DateField,
  FunctionField,
  List,
  NumberInput,
  TextField,
  TextInput,
  type ResourceProps,
} from 'react-admin';
import { NextPrevious } from './pagination.js';

const FILTERS = [
  <NumberInput key="account" source="account_id" label="Account" alwaysOn />,
  <TextInput key="subject" source="subject" alwaysOn helperText="The path of what was changed" />,
];

/** A command has no account. */
const accountLink = ({ account_id: id }: { account_id: number | null }): ReactNode =>
  id !== null && <Link to={`/accounts/${id}/show`}>{id}</Link>;

const AuditList = (): ReactNode => (
  <List filters={FILTERS} exporter={false} perPage={20} pagination={<NextPrevious />}>
    <Datagrid>
      <DateField source="created_at" showTime sortable={false} />
      <TextField source="action" sortable={false} />
      <TextField source="subject" sortable={false} />
      <FunctionField label="Account" render={accountLink} />
      <TextField source="address" sortable={false} />
      <TextField source="request_id" sortable={false} />
    </Datagrid>
  </List>
);

export const AUDIT: ResourceProps = {
  name: 'audit',
  list: AuditList,
  icon: GavelIcon,
  options: { label: 'Audit log' },
};
