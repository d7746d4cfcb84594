import {
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow,
} from '@mui/material';
import { type ReactNode, useEffect, useState } from 'react';
import {
  Edit,
  type EditProps,
  HttpError,
  type RaRecord,
  useDataProvider,
  useEditContext,
  useNotify,
  useRefresh,
  useUpdate,
  DeleteWithConfirmButton,
  SaveButton,
  Toolbar,
} from 'react-admin';

/** Kept apart from the records of lists, which have no entity tag: a form shows when the record has come with its own. */
const meta = { hasTag: true };

/** An edit page that shows both versions if somebody else has changed the record meanwhile (412). */
export function SafeEdit({ children, ...props }: EditProps): ReactNode {
  const [mine, setMine] = useState<RaRecord>();
  const notify = useNotify();
  return (
    <Edit
      mutationMode="pessimistic"
      redirect={false}
      {...props}
      queryOptions={{ meta }}
      mutationOptions={{
        meta,
        onError: (error: unknown, { data }: { data?: Partial<RaRecord> }) => {
          if (error instanceof HttpError && error.status === 412) setMine(data as RaRecord);
          else notify((error as Error).message, { type: 'error' });
        },
      }}
    >
      {children}
      {mine && <ConflictDialog mine={mine} close={() => setMine(undefined)} />}
    </Edit>
  );
}

function ConflictDialog({ mine, close }: { mine: RaRecord; close: () => void }): ReactNode {
  const { resource, record } = useEditContext();
  const provider = useDataProvider();
  const notify = useNotify();
  const refresh = useRefresh();
  const [update] = useUpdate();
  const [theirs, setTheirs] = useState<RaRecord>();
  const [changes, setChanges] = useState(1);
  const { id } = record!;

  useEffect(() => {
    provider
      .getOne(resource, { id })
      .then(({ data }) => setTheirs(data))
      .catch((error: Error) => {
        // Somebody may have deleted it.
        notify(error.message, { type: 'error' });
        close();
      });
    // Once for each conflict.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [resource, id, changes]);

  if (theirs === undefined) return null;
  // What the person has not touched stays as the other has left it.
  const changed = Object.keys(mine).filter((name) => String(mine[name]) !== String(record![name]));
  const names = changed.filter((name) => String(mine[name]) !== String(theirs[name]));

  async function keepMine(): Promise<void> {
    try {
      const data = Object.fromEntries(names.map((name) => [name, mine[name]]));
      // The record of the page gets the new entity tag, which the next change needs.
      await update(resource, { id, data, previousData: theirs, meta }, { returnPromise: true });
      notify('Your version is saved.', { type: 'success' });
      close();
    } catch (error) {
      notify((error as Error).message, { type: 'error' });
      if (error instanceof HttpError && error.status === 412) setChanges(changes + 1);
    }
  }

  return (
    <Dialog open onClose={close} aria-labelledby="conflict-title" maxWidth="md">
      <DialogTitle id="conflict-title">Somebody has changed this meanwhile</DialogTitle>
      <DialogContent>
        <DialogContentText sx={{ mb: 1 }}>Nothing was saved. Choose a version.</DialogContentText>
        <Table
          size="small"
          sx={{ tableLayout: 'fixed', '& td, & th': { px: 1 }, '& th:first-of-type': { width: '22%' } }}
        >
          <TableHead>
            <TableRow>
              <TableCell>Field</TableCell>
              <TableCell>Saved now</TableCell>
              <TableCell>Yours</TableCell>
            </TableRow>
          </TableHead>
          <TableBody>
            {names.map((name) => (
              <TableRow key={name}>
                <TableCell sx={{ textTransform: 'capitalize' }}>{name.replaceAll('_', ' ')}</TableCell>
                <TableCell sx={{ overflowWrap: 'break-word' }}>{String(theirs[name])}</TableCell>
                <TableCell sx={{ overflowWrap: 'break-word' }}>{String(mine[name])}</TableCell>
              </TableRow>
            ))}
          </TableBody>
        </Table>
      </DialogContent>
      <DialogActions>
        <Button
          onClick={() => {
            close();
            refresh();
          }}
        >
          Take the saved version
        </Button>
        <Button variant="contained" onClick={() => void keepMine()}>
          Save mine
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** For `parse`: react-admin would send an empty text as null, which leaves a field as it is. */
export const asText = (value: string): string => value;

/** Saves, and deletes after a question. */
export const EditToolbar = (): ReactNode => (
  <Toolbar sx={{ justifyContent: 'space-between' }}>
    <SaveButton />
    <DeleteWithConfirmButton mutationMode="pessimistic" />
  </Toolbar>
);
