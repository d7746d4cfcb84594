import { List, ListItem, ListItemText, Skeleton, Typography } from '@mui/material';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { messageOf } from '../shared/api.js';
import { Failure } from '../shared/form.js';

interface Entry {
  readonly id: number | string;
  readonly name: string;
  readonly details: string;
  readonly action?: ReactNode;
}

interface Props<Data> {
  readonly name: string;
  readonly load: () => Promise<Data>;
  readonly entriesOf: (data: Data) => readonly Entry[];
  readonly none: string;
}

/** A list that is loaded: the name of each entry, its details in grey below it, and at most one action. */
export function Entries<Data>({ name, load, entriesOf, none }: Props<Data>): ReactNode {
  const { data, error } = useQuery({ queryKey: [name], queryFn: load });
  if (error) return <Failure message={messageOf(error)} />;
  if (data === undefined) return <Skeleton height={60} />;
  const entries = entriesOf(data);
  if (entries.length === 0) return <Typography sx={{ color: 'text.secondary' }}>{none}</Typography>;
  return (
    <List disablePadding sx={{ width: '100%' }}>
      {entries.map(({ id, name: title, details, action }) => (
        <ListItem key={id} divider disableGutters sx={{ gap: 2 }}>
          <ListItemText primary={title} secondary={details} sx={{ overflowWrap: 'anywhere' }} />
          {action}
        </ListItem>
      ))}
    </List>
  );
}

export const date = (text: string | null): string =>
  text === null ? 'never' : new Date(text).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
