import { ROOT } from '../shared/api.js';

/** The values of a schema, as the reference of the running service lists them. */
async function loadValues(schema: string): Promise<string[]> {
  const response = await fetch(`${ROOT}openapi.json`);
  const { components } = (await response.json()) as {
    components: { schemas: Record<string, { enum?: string[] }> };
  };
  return components.schemas[schema]?.enum ?? [];
}

/** The types of events. */
export const loadEventTypes = (): Promise<string[]> => loadValues('EventType');

/** The types of events that a webhook can ask for. */
export const loadWebhookEventTypes = (): Promise<string[]> => loadValues('WebhookEventType');
