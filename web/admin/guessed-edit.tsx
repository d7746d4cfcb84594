import type { ReactNode } from 'react';
import { editFieldTypes, getElementsFromRecords, SimpleForm, useEditContext } from 'react-admin';
import { EditToolbar, SafeEdit } from './safe-edit.js';

/** What the service sets. */
const READ_ONLY = new Set(['id', 'etag', 'created_at', 'updated_at']);

/** An edit page with the fields that the record has, until a module has a page of its own. */
export const GuessedEdit = (): ReactNode => (
  <SafeEdit>
    <GuessedForm />
  </SafeEdit>
);

function GuessedForm(): ReactNode {
  const { record } = useEditContext();
  if (!record) return null;
  const fields = Object.fromEntries(Object.entries(record).filter(([name]) => !READ_ONLY.has(name)));
  return (
    <SimpleForm toolbar={<EditToolbar />}>
      {getElementsFromRecords([fields], editFieldTypes).map((field) => field.getElement())}
    </SimpleForm>
  );
}
