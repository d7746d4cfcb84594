import { AppError } from '../../http/errors/errors.js';

/** 64 MiB: what all operations under way may reserve together, in bytes. */
const BUDGET = 64 * 1024 * 1024;

/** What the operations of one client may reserve while others wait, in bytes. */
const SHARE = BUDGET / 4;

/** How long an operation waits for memory, in milliseconds. */
const PATIENCE = 10_000;

interface Request {
  readonly bytes: number;
  readonly granted: PromiseWithResolvers<void>;
}

/** The memory of one operation. */
export class Reservation {
  /** In bytes. */
  granted = 0;
  readonly requests: Request[] = [];
  timeout: NodeJS.Timeout | undefined;
  /** Why it has got no memory: it waited too long. */
  failure: AppError | undefined;
  hasEnded = false;

  constructor(readonly client: string) {}
}

/**
 * The memory of the large operations of all clients. The oldest operation that has memory gets what it needs, so that
 * operations never wait for each other; the others wait until it is free. Clients take turns.
 */
class OperationMemory {
  private reserved = 0;
  /** Those with memory, the oldest first. */
  private readonly reservations = new Set<Reservation>();
  /** Those that wait, by client, in the order of the rotation. */
  private readonly waiting = new Map<string, Set<Reservation>>();

  /** @throws AppError `SERVICE_UNAVAILABLE` if there is not enough memory in time */
  async reserve(reservation: Reservation, bytes: number): Promise<void> {
    if (bytes === 0) return undefined;
    if (reservation.failure) throw reservation.failure;
    if (reservation.hasEnded) return undefined;
    const { client, requests } = reservation;
    if (requests.length === 0 && this.isFree(reservation, bytes)) return this.grant(reservation, bytes);
    const granted = Promise.withResolvers<void>();
    requests.push({ bytes, granted });
    reservation.timeout ??= setTimeout(() => this.fail(reservation), PATIENCE).unref();
    const ofClient = this.waiting.get(client) ?? new Set();
    this.waiting.set(client, ofClient.add(reservation));
    return granted.promise;
  }

  release(reservation: Reservation): void {
    reservation.hasEnded = true;
    this.stopWaiting(reservation);
    for (const { granted } of reservation.requests.splice(0)) granted.resolve();
    if (!this.reservations.delete(reservation)) return;
    this.reserved -= reservation.granted;
    reservation.granted = 0;
    while (this.grantNext());
  }

  /** Grants one request. @returns whether there was one */
  private grantNext(): boolean {
    for (const [client, reservations] of this.waiting) {
      for (const reservation of reservations) {
        const [request] = reservation.requests;
        if (!this.isFree(reservation, request!.bytes)) continue;
        reservation.requests.shift();
        if (reservation.requests.length === 0) this.stopWaiting(reservation);
        if (this.waiting.delete(client)) this.waiting.set(client, reservations);
        this.grant(reservation, request!.bytes);
        request!.granted.resolve();
        return true;
      }
    }
    return false;
  }

  private isFree(reservation: Reservation, bytes: number): boolean {
    const [oldest = reservation] = this.reservations;
    if (oldest === reservation) return true;
    if (this.reserved + bytes > BUDGET) return false;
    const { client } = reservation;
    const doOthersWait = this.waiting.size > (this.waiting.has(client) ? 1 : 0);
    return !doOthersWait || this.reservedBy(client) + bytes <= SHARE;
  }

  private grant(reservation: Reservation, bytes: number): void {
    this.reservations.add(reservation);
    this.reserved += bytes;
    reservation.granted += bytes;
  }

  private reservedBy(client: string): number {
    let bytes = 0;
    for (const each of this.reservations) if (each.client === client) bytes += each.granted;
    return bytes;
  }

  private fail(reservation: Reservation): void {
    const message = 'Too many large operations are running; retry later';
    reservation.failure = new AppError('SERVICE_UNAVAILABLE', message);
    const requests = reservation.requests.splice(0);
    this.stopWaiting(reservation);
    for (const { granted } of requests) granted.reject(reservation.failure);
  }

  private stopWaiting(reservation: Reservation): void {
    clearTimeout(reservation.timeout);
    reservation.timeout = undefined;
    const ofClient = this.waiting.get(reservation.client);
    ofClient?.delete(reservation);
    if (ofClient?.size === 0) this.waiting.delete(reservation.client);
  }
}

export const memory = new OperationMemory();
