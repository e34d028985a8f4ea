import { LamportClock, Vector } from './clock';
import { History } from './history';
import { Op, Sequence } from './sequence';

/** One participant's copy of the text. */
export class Replica {
  readonly sequence = new Sequence();
  readonly vector: Vector = new Map();
  private readonly history = new History();
  private readonly clock: LamportClock;
  private pending: Op[] = [];

  constructor(readonly site: string) {
    this.clock = new LamportClock(site);
  }

  text(): string {
    return this.sequence.text();
  }

  /** Inserts `text` in front of the character at `position` and returns the operations to send. */
  insert(position: number, text: string): Op[] {
    const ops: Op[] = [];
    let origin = this.sequence.keyAt(position - 1);
    for (const character of text) {
      const op = this.insertAfter(origin, character);
      ops.push(op);
      origin = `${op.id.counter}@${op.id.site}`;
    }
    this.history.record(ops);
    return ops;
  }

  /** Deletes `length` characters from `position` on and returns the operations to send. */
  remove(position: number, length: number): Op[] {
    const ops: Op[] = [];
    for (let count = 0; count < length; count += 1) {
      const key = this.sequence.keyAt(position);
      if (key !== null) ops.push(this.deleteItem(key));
    }
    this.history.record(ops);
    return ops;
  }

  undo(): Op[] {
    return this.history.undo(this);
  }

  redo(): Op[] {
    return this.history.redo(this);
  }

  insertAfter(origin: string | null, text: string): Op {
    return this.applyLocal({ kind: 'insert', id: this.clock.tick(), seq: this.nextSeq(), origin, text });
  }

  deleteItem(target: string): Op {
    return this.applyLocal({ kind: 'delete', id: this.clock.tick(), seq: this.nextSeq(), target });
  }

  /** Takes an operation from elsewhere; one that comes too early waits for what it needs. */
  receive(op: Op): void {
    this.clock.observe(op.id);
    this.pending.push(op);
    let progress = true;
    while (progress) {
      progress = false;
      const waiting: Op[] = [];
      for (const candidate of this.pending) {
        if (candidate.seq <= this.seen(candidate.id.site)) continue;
        if (this.isReady(candidate)) {
          this.sequence.integrate(candidate);
          this.vector.set(candidate.id.site, candidate.seq);
          progress = true;
        } else {
          waiting.push(candidate);
        }
      }
      this.pending = waiting;
    }
  }

  /** How many received operations are still waiting. */
  waitingCount(): number {
    return this.pending.length;
  }

  private isReady(op: Op): boolean {
    if (op.seq !== this.seen(op.id.site) + 1) return false;
    const needed = op.kind === 'insert' ? op.origin : op.target;
    return needed === null || this.sequence.has(needed);
  }

  private applyLocal(op: Op): Op {
    this.sequence.integrate(op);
    this.vector.set(this.site, op.seq);
    return op;
  }

  private nextSeq(): number {
    return this.seen(this.site) + 1;
  }

  private seen(site: string): number {
    return this.vector.get(site) ?? 0;
  }
}
