/**
 * The shortest interval between the beginnings of two reads of new events, in milliseconds: events in between are
 * sent together. It is longer with many streams, because each costs a system call, and longer still while the event
 * loop has no time left, because streams must not slow down requests.
 */
const PACE = { least: 25, most: 75, mostWhenBusy: 200, followers: 1000 };

/** The share of its time above which the event loop is busy. 200 changes per second and 1,000 streams take half of it. */
const BUSY = 0.9;

/** The interval without followers in this process: other replicas still wait for positions. */
const PACE_WITHOUT_FOLLOWERS = 200;

/** The interval between the beginnings of a read and the next one. */
export class ReadPace {
  private utilization = performance.eventLoopUtilization();
  private wasBusy = false;

  /** In milliseconds. Call it once for each read. */
  next(followers: number): number {
    if (followers === 0) return PACE_WITHOUT_FOLLOWERS;
    const most = this.isBusy() ? PACE.mostWhenBusy : PACE.most;
    return PACE.least + (most - PACE.least) * Math.min(1, followers / PACE.followers);
  }

  /** Whether the event loop had no time left in the last two intervals: a single pause, such as for garbage, does not count. */
  private isBusy(): boolean {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.utilization);
    const { wasBusy } = this;
    this.utilization = now;
    this.wasBusy = utilization > BUSY;
    return wasBusy && this.wasBusy;
  }
}
