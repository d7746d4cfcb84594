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
import { type ReactNode, useEffect, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Title } from 'react-admin';
import { ROOT, type Schemas } from '../shared/api.js';
import { inWords } from '../shared/in-words.js';
import type { ConsolePage } from './console-page.js';
import { loadEventTypes } from './event-types.js';

type Event = Schemas['CloudEventEnvelope'] & { data?: unknown };

const NONE: string[] = [];

/** Older events leave the page. */
const MAX_SHOWN = 200;

/** A live tail of the event stream. The browser reconnects by itself, right after the last event that it has seen. */
function EventsPage(): ReactNode {
  const { data: allTypes = NONE } = useQuery({ queryKey: ['event-types'], queryFn: loadEventTypes });
  const [types, setTypes] = useState<string[]>([]);
  const [isLive, setLive] = useState(false);
  const [events, setEvents] = useState<readonly Event[]>([]);

  useEffect(() => {
    const query = types.length > 0 ? `?types=${encodeURIComponent(types.join(','))}` : '';
    const source = new EventSource(`${ROOT}v1/events/stream${query}`);
    const onEvent = ({ data }: MessageEvent<string>) =>
      setEvents((shown) => [JSON.parse(data) as Event, ...shown].slice(0, MAX_SHOWN));
    source.addEventListener('open', () => setLive(true));
    source.addEventListener('error', () => setLive(false));
    // Each type of event is a type of the browser's event, too: there is none for all.
    for (const type of allTypes) source.addEventListener(type, onEvent);
    return () => source.close();
  }, [types, allTypes]);

  return (
    <Paper sx={{ p: 2, mt: 2 }}>
      <Title title="Events" />
      <Stack direction="row" spacing={2} sx={{ alignItems: 'center', mb: 1, flexWrap: 'wrap' }}>
        <Autocomplete
          multiple
          size="small"
          options={allTypes}
          value={types}
          onChange={(_, value) => setTypes(value)}
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
      {events.length === 0 && (
        <Typography sx={{ color: 'text.secondary' }}>New events appear here as they happen.</Typography>
      )}
      <List dense aria-label="Events">
        {events.map(({ id, type, subject, time, data }) => (
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
