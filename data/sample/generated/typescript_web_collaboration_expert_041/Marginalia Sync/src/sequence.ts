import { Stamp, stampKey, Vector } from './clock';

/** Puts one character after the character `origin`, or at the start. */
export interface InsertOp {
  readonly kind: 'insert';
  readonly id: Stamp;
  readonly seq: number;
  readonly origin: string | null;
  readonly text: string;
}

/** Deletes the character `target`. */
export interface DeleteOp {
  readonly kind: 'delete';
  readonly id: Stamp;
  readonly seq: number;
  readonly target: string;
}

export type Op = InsertOp | DeleteOp;

export interface Item {
  readonly id: Stamp;
  readonly text: string;
  deleted: boolean;
  deletedBy: { readonly site: string; readonly seq: number } | null;
}

/** The text as a list of characters, tombstones included. */
export class Sequence {
  readonly items: Item[] = [];

  text(): string {
    return this.items.map((item) => (item.deleted ? '' : item.text)).join('');
  }

  has(key: string): boolean {
    return this.indexOf(key) >= 0;
  }

  /** The key of the visible character at `position`, or null in front of the first. */
  keyAt(position: number): string | null {
    if (position < 0) return null;
    const visible = this.items.filter((item) => !item.deleted);
    if (position >= visible.length) throw new RangeError(`no character at ${position}`);
    return stampKey(visible[position].id);
  }

  /** Applies an operation whose origin or target is present. */
  integrate(op: Op): void {
    if (op.kind === 'insert') this.integrateInsert(op);
    else this.integrateDelete(op);
  }

  /** Drops the tombstones whose deletion is covered by `stable` and returns how many there were. */
  purge(stable: Vector): number {
    let dropped = 0;
    for (let at = this.items.length - 1; at >= 0; at -= 1) {
      const by = this.items[at].deletedBy;
      if (by !== null && (stable.get(by.site) ?? 0) >= by.seq) {
        this.items.splice(at, 1);
        dropped += 1;
      }
    }
    return dropped;
  }

  private integrateInsert(op: InsertOp): void {
    let at = 0;
    if (op.origin !== null) {
      at = this.indexOf(op.origin) + 1;
      if (at === 0) throw new Error(`unknown origin ${op.origin}`);
    }
    while (at < this.items.length && this.items[at].id.counter > op.id.counter) at += 1;
    this.items.splice(at, 0, { id: op.id, text: op.text, deleted: false, deletedBy: null });
  }

  private integrateDelete(op: DeleteOp): void {
    const at = this.indexOf(op.target);
    if (at < 0) throw new Error(`unknown target ${op.target}`);
    this.items[at].deleted = true;
    this.items[at].deletedBy = { site: op.id.site, seq: op.seq };
  }

  private indexOf(key: string): number {
    return this.items.findIndex((item) => stampKey(item.id) === key);
  }
}
