export type Role = 'viewer' | 'editor' | 'owner';

const RANK: Record<Role, number> = { viewer: 0, editor: 1, owner: 2 };

/** What a token entitles its bearer to. */
export interface Grant {
  readonly name: string;
  readonly role: Role;
}

export class AccessError extends Error {}

function isRole(text: string): text is Role {
  return Object.keys(RANK).includes(text);
}

function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** A token for `name` that is valid until `expiresAt` (milliseconds). */
export function issueToken(name: string, role: Role, expiresAt: number, secret: string): string {
  const payload = `${name}.${role}.${expiresAt}`;
  return `${payload}.${checksum(secret + payload)}`;
}

/** Checks a token; throws AccessError if it was not issued with `secret` or has expired. */
export function readToken(token: string, secret: string, now: number): Grant {
  const cut = token.lastIndexOf('.');
  const payload = token.slice(0, cut);
  if (checksum(secret + payload) !== token.slice(cut + 1)) throw new AccessError('token was not issued here');
  const [name, role, expiresAt] = payload.split('.');
  if (!isRole(role)) throw new AccessError(`unknown role ${role}`);
  if (!(Number(expiresAt) > now)) throw new AccessError('token has expired');
  return { name, role };
}

export function requireRole(actual: Role, needed: Role): void {
  if (RANK[actual] < RANK[needed]) throw new AccessError(`${needed} needed, not ${actual}`);
}
