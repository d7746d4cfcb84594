/** The settings of the service, which are attributes of the page. */
const { service = '', passwordPolicy, registration } = document.body.dataset;

export const SERVICE = service;
export const IS_STRICT = passwordPolicy === 'strict';
export const MAY_REGISTER = registration === 'open';
