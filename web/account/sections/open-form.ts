import { useSearchParams } from 'react-router';

/** Whether the form of a section is open: the address says so, so that Back closes it and a reload keeps it. */
export function useOpenForm(): readonly [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const [query, setQuery] = useSearchParams();
  const setOpen = (isOpen: boolean) => setQuery(isOpen ? { form: 'open' } : {}, { replace: !isOpen });
  return [query.has('form'), setOpen];
}
