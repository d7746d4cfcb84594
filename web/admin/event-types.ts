import { ROOT } from '../shared/api.js';

/** The types of events, as the reference of the running service lists them. */
export async function loadEventTypes(): Promise<string[]> {
  const response = await fetch(`${ROOT}openapi.json`);
  const { components } = (await response.json()) as {
    components: { schemas: { EventType?: { enum?: string[] } } };
  };
  return components.schemas.EventType?.enum ?? [];
}
