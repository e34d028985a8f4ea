/** Names one operation: the site that made it and that site's Lamport time. */
export interface Stamp {
  readonly counter: number;
  readonly site: string;
}

/** For each site the highest sequence number that has been seen without a gap. */
export type Vector = Map<string, number>;

/** Orders stamps by counter, then by site. */
export function compareStamps(a: Stamp, b: Stamp): number {
  if (a.counter !== b.counter) return a.counter - b.counter;
  if (a.site === b.site) return 0;
  return a.site < b.site ? -1 : 1;
}

export function stampKey(stamp: Stamp): string {
  return `${stamp.counter}@${stamp.site}`;
}

/** A clock that is always ahead of everything it has seen. */
export class LamportClock {
  private counter = 0;

  constructor(private readonly site: string) {}

  tick(): Stamp {
    this.counter += 1;
    return { counter: this.counter, site: this.site };
  }

  observe(stamp: Stamp): void {
    this.counter = Math.max(this.counter, stamp.counter);
  }
}
