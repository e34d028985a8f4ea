import { AccessError, readToken, requireRole, Role } from './access';
import { Vector } from './clock';
import { Op, Sequence } from './sequence';

export interface Session {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  acknowledged: Vector;
}

/** The server's side of one document. */
export class Room {
  private readonly sequence = new Sequence();
  private readonly log: Op[] = [];
  private readonly last: Vector = new Map();
  private readonly waiting = new Map<string, Op>();
  private readonly sessions = new Map<string, Session>();
  private joined = 0;

  constructor(private readonly secret: string, private readonly now: () => number) {}

  join(token: string): Session {
    const { name, role } = readToken(token, this.secret, this.now());
    this.joined += 1;
    const session: Session = { id: `s${this.joined}`, name, role, acknowledged: new Map() };
    this.sessions.set(session.id, session);
    return session;
  }

  leave(sessionId: string): void {
    this.sessions.delete(sessionId);
  }

  /** Takes one operation of an editor. */
  submit(sessionId: string, op: Op): void {
    const session = this.session(sessionId);
    requireRole(session.role, 'editor');
    if (op.id.site !== session.name) throw new AccessError(`${session.name} cannot write as ${op.id.site}`);
    this.apply(op);
  }

  /** Takes what a participant did while offline, as a JSON list, and returns how many operations that were. */
  submitBatch(sessionId: string, wire: string): number {
    this.session(sessionId);
    const ops = JSON.parse(wire) as Op[];
    for (const op of ops) this.apply(op);
    return ops.length;
  }

  /** The operations that a participant with `vector` has not seen, in the order of the log. */
  since(sessionId: string, vector: Vector): Op[] {
    this.session(sessionId);
    return this.log.filter((op) => op.seq > (vector.get(op.id.site) ?? 0));
  }

  /** Records what a participant has seen. */
  acknowledge(sessionId: string, vector: Vector): void {
    this.session(sessionId).acknowledged = new Map(vector);
  }

  /** Drops tombstones that nobody needs any more and returns how many there were. */
  compact(sessionId: string): number {
    requireRole(this.session(sessionId).role, 'owner');
    const stable: Vector = new Map();
    for (const { acknowledged } of this.sessions.values()) {
      for (const [site, seq] of acknowledged) {
        stable.set(site, Math.max(stable.get(site) ?? 0, seq));
      }
    }
    return this.sequence.purge(stable);
  }

  text(): string {
    return this.sequence.text();
  }

  participants(): string[] {
    return [...this.sessions.values()].map((session) => session.name).sort();
  }

  private apply(op: Op): void {
    const site = op.id.site;
    const last = this.last.get(site) ?? 0;
    if (op.seq <= last) return;
    if (op.seq > last + 1) {
      this.waiting.set(`${site}/${op.seq}`, op);
      return;
    }
    this.sequence.integrate(op);
    this.log.push(op);
    this.last.set(site, op.seq);
    const next = this.waiting.get(`${site}/${op.seq + 1}`);
    if (next !== undefined) {
      this.waiting.delete(`${site}/${op.seq + 1}`);
      this.apply(next);
    }
  }

  private session(sessionId: string): Session {
    const session = this.sessions.get(sessionId);
    if (session === undefined) throw new AccessError(`no session ${sessionId}`);
    return session;
  }
}
