import Stream from '@mui/icons-material/Stream';
import {
  Autocomplete,
  Chip,
  List,
  ListItem,
  ListItemText,
  Paper,
  Stack,
  TextField,
  Typography,
} from '@mui/material';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Title } from 'react-admin';
import { inWords } from '../shared/in-words.js';
import type { ConsolePage } from './console-page.js';
import { type Event, follow } from './event-stream.js';
import { loadEventTypes } from './event-types.js';

const NONE: string[] = [];

/** Older events leave the page. */
const MAX_SHOWN = 200;

const isOf = (types: readonly string[], { type }: Event): boolean =>
  types.length === 0 || types.includes(type);

/** A live tail of the event stream. */
function EventsPage(): ReactNode {
  const { data: allTypes = NONE } = useQuery({
    queryKey: ['event-types'],
    queryFn: loadEventTypes,
    retry: true,
  });
  const [types, setTypes] = useState<string[]>([]);
  /** For events that come later. */
  const wanted = useRef(types);
  const [isLive, setLive] = useState(false);
  const [events, setEvents] = useState<readonly Event[]>([]);

  useEffect(() => {
    if (allTypes.length > 0)
      return follow(allTypes, {
        onLive: setLive,
        onEvent: (event) => {
          if (isOf(wanted.current, event)) setEvents((shown) => [event, ...shown].slice(0, MAX_SHOWN));
        },
      });
    return undefined;
  }, [allTypes]);

  const shown = events.filter((event) => isOf(types, event));
  return (
    <Paper sx={{ p: 2, mt: 2 }}>
      <Title title="Events" />
      <Stack direction="row" spacing={2} sx={{ alignItems: 'center', mb: 1, flexWrap: 'wrap' }}>
        <Autocomplete
          multiple
          size="small"
          options={allTypes}
          value={types}
          onChange={(_, value) => {
            wanted.current = value;
            setTypes(value);
          }}
          renderInput={(props) => <TextField {...props} label="Types" helperText="Empty for all" />}
          sx={{ minWidth: 280 }}
        />
        <Chip
          label={isLive ? 'Live' : 'Connecting'}
          color={isLive ? 'success' : 'warning'}
          size="small"
          role="status"
        />
      </Stack>
      {shown.length === 0 && (
        <Typography sx={{ color: 'text.secondary' }}>New events appear here as they happen.</Typography>
      )}
      <List dense aria-label="Events">
        {shown.map(({ id, type, subject, time, data }) => (
          <ListItem key={id} divider disableGutters>
            <ListItemText
              primary={`${type} · ${subject}`}
              secondary={`${new Date(time).toLocaleTimeString()} · ${inWords(data, 300)}`}
              sx={{ overflowWrap: 'anywhere' }}
            />
          </ListItem>
        ))}
      </List>
    </Paper>
  );
}

export const EVENTS: ConsolePage = {
  path: '/events',
  title: 'Events',
  icon: <Stream />,
  page: <EventsPage />,
};
